"""Killing things: the page says what is down and recovers without a reload."""

import os
import signal

import pytest
from playwright.sync_api import expect

from tests.support.waiting import wait_until


@pytest.fixture
def tab(open_tab):
    tab = open_tab("/")
    tab.wait_drawn(2)
    tab.page.evaluate("window.notReloaded = true")
    return tab


def recovered(tab):
    tab.wait_drawn(4, timeout_s=40)
    expect(tab.page.locator("#banner")).to_be_hidden()
    expect(tab.page.locator(".is-stale")).to_have_count(0)
    assert tab.page.evaluate("window.notReloaded") is True


def test_silent_hosts_are_stale_and_come_back(tab, pages_feeder):
    pages_feeder.stop()
    try:
        age = tab.page.locator('[data-age-of="wide"]').first
        expect(age).to_contain_text("no data for")
        part = tab.page.locator('[data-part="host:wide"]')
        expect(part).to_contain_text("no sign of life for")
        expect(tab.page.locator('[data-part="engine"]')).to_have_attribute("data-state", "silent")
    finally:
        pages_feeder.start()
    recovered(tab)
    expect(tab.page.locator('[data-part="host:wide"]')).to_have_attribute("data-state", "up")


def test_redis_killed_and_restarted(tab, pages_redis, pages_web):
    pages_redis.kill()
    try:
        expect(tab.page.locator("#banner")).to_contain_text("Redis cannot be reached")
        expect(tab.page.locator('[data-part="redis"]')).to_contain_text("down")
        health = pages_web.get("/health")
        assert health.status_code == 503
        assert health.json()["redis"]["up"] is False
        assert pages_web.get("/api/v1/snapshot").status_code == 503
        tab.page.get_by_role("button", name="Stop top_n").click()
        dialog = tab.page.get_by_role("dialog")
        dialog.get_by_role("button", name="Stop operator").click()
        expect(dialog).to_contain_text("nothing was sent")
        tab.page.keyboard.press("Escape")
    finally:
        pages_redis.start()
    recovered(tab)
    wait_until(lambda: pages_web.get("/health").status_code == 200, 10, "healthy again")


def test_page_opened_while_redis_is_away(pages_redis, open_tab):
    pages_redis.kill()
    try:
        page = open_tab("/").page
        expect(page.locator("#banner")).to_contain_text("Redis cannot be reached")
    finally:
        pages_redis.start()
    expect(page.locator("#banner")).to_be_hidden()
    expect(page.locator(".cluster")).to_have_count(2)


def test_killed_workers_are_replaced(tab, pages_web):
    before = pages_web.workers()
    for pid in before:
        os.kill(pid, signal.SIGKILL)
    recovered(tab)
    assert set(pages_web.workers()).isdisjoint(before)


def test_web_server_away_and_back(tab, pages_web):
    pages_web.stop()
    try:
        expect(tab.page.locator("#banner")).to_contain_text("The web server has not answered")
    finally:
        pages_web.start()
    recovered(tab)
