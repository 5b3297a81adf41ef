"""Signing in and out, roles and the users page, in a real browser."""

import re
import time

import httpx
import pytest
from playwright.sync_api import expect

from weir.components.web.security.passwords import hash_password
from weir.metrics.store.users import Role

PASSWORD = "correct horse battery staple"


@pytest.fixture(scope="module")
def ada(pages_web):
    """An approver with a password."""
    pages_web.users.add("ada", Role.APPROVER, time.time(), hash_password(PASSWORD))
    return "ada"


def fill(page, name, password):
    page.get_by_label("Name").fill(name)
    page.get_by_label("Password").fill(password)
    page.get_by_role("button", name="Sign in").click()


def signed_in_as(page, name):
    expect(page.locator(".who-name")).to_have_text(name)


def test_a_link_signs_in_once_and_leaves_no_trace(open_tab, pages_web):
    pages_web.users.add("grace", Role.ADMIN, time.time())
    path = pages_web.people.link("grace", "test", "here")
    page = open_tab(path, role=None).page
    signed_in_as(page, "grace")
    assert "link" not in page.url
    other = open_tab(path, role=None).page
    expect(other.locator("#error")).to_contain_text("was used already")
    assert "link" not in other.url


def test_wrong_then_right_and_back_to_where_one_was(open_tab, ada):
    page = open_tab("/cluster/wide", role=None).page
    expect(page).to_have_url(re.compile(r"/sign-in\?next=/cluster/wide$"))
    fill(page, ada, "wrong")
    expect(page.locator("#error")).to_have_text("Name or password is not right.")
    fill(page, "nobody-here", PASSWORD)
    expect(page.locator("#error")).to_have_text("Name or password is not right.")
    fill(page, ada, PASSWORD)
    signed_in_as(page, ada)
    expect(page).to_have_url(re.compile("/cluster/wide$"))


def test_the_way_back_never_leads_elsewhere(open_tab, ada):
    page = open_tab("/sign-in?next=//evil.example/x", role=None).page
    fill(page, ada, PASSWORD)
    signed_in_as(page, ada)
    assert "evil" not in page.url


def test_lock_out_after_failures_even_for_the_right_password(open_tab, pages_web):
    pages_web.users.add("bob", Role.VIEWER, time.time(), hash_password(PASSWORD))
    page = open_tab("/sign-in", role=None).page
    for _ in range(5):
        fill(page, "bob", "wrong")
        expect(page.locator("#error")).to_have_text("Name or password is not right.")
    fill(page, "bob", PASSWORD)
    expect(page.locator("#error")).to_contain_text("Too many failed attempts. Try again in")
    # A link is the way out for the real one.
    page.goto(pages_web.url + pages_web.people.link("bob", "test", "here"))
    page.reload()
    signed_in_as(page, "bob")


def test_a_viewer_sees_buttons_off_with_the_reason(open_tab, pages_web, pages_store):
    page = open_tab("/", role=Role.VIEWER).page
    signed_in_as(page, "viewer")
    for name in ("Scale wide", "Stop top_n", "Set rate", "Pause tweets"):
        button = page.get_by_role("button", name=name)
        expect(button).to_be_disabled()
        expect(button).to_have_attribute("title", "This needs the role approver; you are viewer.")
    page.locator(".who summary").click()
    expect(page.get_by_role("link", name="Users and tokens")).to_have_count(0)
    # A button that is brought back by force is refused by the server, and says so.
    before = pages_store.workloads()
    page.evaluate("document.querySelector('.workload .button-primary').disabled = false")
    page.get_by_role("button", name="Set rate").click()
    expect(page.locator("#toast")).to_contain_text("This needs the role approver; you are viewer.")
    assert pages_store.workloads() == before
    page.goto(pages_web.url + "/users")
    expect(page.locator("h1")).to_have_text("Only admins manage users")


def test_an_approver_has_the_buttons(open_tab):
    page = open_tab("/", role=Role.APPROVER).page
    expect(page.get_by_role("button", name="Scale wide", exact=True)).to_be_enabled()


def test_signing_out_ends_the_session(open_tab, pages_web, ada):
    page = open_tab("/sign-in", role=None).page
    fill(page, ada, PASSWORD)
    signed_in_as(page, ada)
    kept = page.context.cookies()
    page.locator(".who summary").click()
    page.get_by_role("button", name="Sign out").click()
    expect(page.locator("#lead")).to_have_text("You are signed out.")
    page.goto(pages_web.url + "/")
    expect(page).to_have_url(re.compile("/sign-in"))
    page.context.add_cookies(kept)  # a copy of the cookie is worth nothing any more
    page.goto(pages_web.url + "/balance")
    expect(page).to_have_url(re.compile("/sign-in"))


def test_a_session_that_ends_takes_the_open_page_with_it(open_tab, pages_web, ada):
    tab = open_tab("/sign-in?next=/operator/top_n", role=None)
    fill(tab.page, ada, PASSWORD)
    signed_in_as(tab.page, ada)
    tab.wait_drawn(1)
    pages_web.people.end_all(ada, "test", "here")
    expect(tab.page.locator("#lead")).to_have_text("Your session has ended; sign in again.")
    fill(tab.page, ada, PASSWORD)
    signed_in_as(tab.page, ada)
    expect(tab.page).to_have_url(re.compile("/operator/top_n$"))


def test_choosing_a_password_after_a_link(open_tab, pages_web):
    pages_web.users.add("joan", Role.VIEWER, time.time())
    page = open_tab(pages_web.people.link("joan", "test", "here"), role=None).page
    signed_in_as(page, "joan")
    page.goto(pages_web.url + "/password")
    expect(page.get_by_label("Current password")).to_have_count(0)
    page.get_by_label("New password", exact=True).fill("another long secret")
    page.get_by_label("New password again").fill("another long secreT")
    page.get_by_role("button", name="Set password").click()
    expect(page.locator("#error")).to_have_text("The two new passwords are not the same.")
    page.get_by_label("New password again").fill("another long secret")
    page.get_by_role("button", name="Set password").click()
    signed_in_as(page, "joan")
    fresh = open_tab("/sign-in", role=None).page
    fill(fresh, "joan", "another long secret")
    signed_in_as(fresh, "joan")


def test_users_page_adds_changes_and_removes(open_tab, pages_web):
    page = open_tab("/users").page
    page.get_by_label("Name of a new user").fill("kay")
    page.get_by_role("button", name="Add user").click()
    once = page.locator("#users-secret")
    expect(once).to_contain_text("/sign-in#link=")
    assert pages_web.users.user("kay").role is Role.VIEWER
    theirs = open_tab(once.inner_text().removeprefix(pages_web.url), role=None).page
    signed_in_as(theirs, "kay")
    # The role holds at once, on pages that are open.
    page.get_by_role("textbox", name="Role of kay").click()
    page.get_by_role("option", name="approver", exact=True).click()
    expect(page.locator("#toast")).to_contain_text("kay is approver now.")
    theirs.reload()
    expect(theirs.get_by_role("button", name="Scale wide", exact=True)).to_be_enabled()
    page.get_by_role("button", name="End sessions: kay").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("kay is signed out everywhere at once")
    dialog.get_by_role("button", name="End sessions").click()
    expect(theirs.locator("#lead")).to_contain_text("Your session has ended")
    page.get_by_role("button", name="Remove: kay").click()
    expect(dialog).to_contain_text("stays in the audit trail")
    dialog.get_by_role("button", name="Remove user").click()
    expect(page.locator('[data-user="kay"]')).to_have_count(0)
    assert pages_web.users.user("kay") is None


def test_users_page_refuses_what_is_wrong(open_tab, pages_web):
    page = open_tab("/users").page
    page.get_by_label("Name of a new user").fill("two words")
    page.get_by_role("button", name="Add user").click()
    expect(page.locator("#toast")).to_contain_text("a name is 1 to 64 letters")
    page.get_by_label("Name of a new user").fill("viewer")
    page.get_by_role("button", name="Add user").click()
    expect(page.locator("#toast")).to_contain_text("there is a user viewer already")


def test_users_page_makes_and_revokes_tokens(open_tab, pages_web):
    page = open_tab("/users").page
    page.get_by_label("What a new token is for").fill("nightly")
    page.get_by_role("button", name="Make token").click()
    once = page.locator("#users-secret")
    expect(once).to_contain_text("weir_")
    headers = {"authorization": f"Bearer {once.inner_text()}"}
    url = pages_web.url + "/api/v1/snapshot"
    assert httpx.get(url, headers=headers, timeout=60).status_code == 200
    page.get_by_role("button", name="Revoke: nightly").click()
    page.get_by_role("dialog").get_by_role("button", name="Revoke token").click()
    expect(page.locator("#toast")).to_contain_text("The token for nightly is revoked.")
    assert httpx.get(url, headers=headers, timeout=60).status_code == 401
