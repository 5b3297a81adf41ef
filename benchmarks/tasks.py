"""Fifteen tasks of somebody new, done in a real browser and timed, with what the pages answered.

    python -m benchmarks.tasks [--only 3]

No Spark: clusters that exist only as figures report to a real Redis and a real engine looks at
them. A script clicks faster than a person reads, so its times say how long the pages take and how
many steps there are; what they answered stands beside them, to be judged by a reader.
"""

import argparse
import re
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Browser, Page, expect, sync_playwright

from benchmarks import report
from benchmarks.screens import small
from tests.support.access import AXE, barriers
from tests.support.browser import WebServer, launch
from tests.unit.metrics.eventlog import eventlog_logs as logs

PATIENT_MS = 120_000


class Newcomer:
    """Somebody with a browser who counts clicks."""

    def __init__(self, page: Page, web: WebServer, pages: dict[str, str]) -> None:
        self.page, self.web, self.pages = page, web, pages
        self.steps = 0
        page.set_default_timeout(PATIENT_MS)

    def open(self, path: str) -> None:
        """Type an address."""
        self.page.goto(self.web.url + path)
        expect(self.page.locator("h1").first).to_be_visible(timeout=PATIENT_MS)

    def click(self, role: str, name: str, *, exact: bool = False) -> None:
        """One step: what has this role and this name."""
        self.steps += 1
        found = self.page.get_by_role(role, name=name, exact=exact)  # type: ignore[arg-type]
        found.first.click()

    def text(self, selector: str) -> str:
        """What stands there, on one line."""
        found = self.page.locator(selector).first
        expect(found).to_be_visible(timeout=PATIENT_MS)
        return re.sub(r"\s+", " ", found.inner_text()).strip()

    def run(self) -> str:
        """The recorded run of this world."""
        return self.pages["replay"].removeprefix("/replay/")


def all_well(me: Newcomer) -> str:
    me.open("/")
    return f"{me.text('.answer-said')} {me.text('[data-answer=bottleneck]')}"


def one_recommendation(me: Newcomer) -> str:
    me.open("/")
    me.click("link", "Details")
    expect(me.page).to_have_url(re.compile("/recommendation/"), timeout=PATIENT_MS)
    expect(me.page.get_by_role("heading", name="Why")).to_be_visible(timeout=PATIENT_MS)
    return f"{me.text('h1')}: {me.text('.reason, .card:has(h2) p')}"


def two_hours_of_load(me: Newcomer) -> str:
    me.open("/")
    me.steps += 1
    me.page.locator('[data-cluster="narrow"] .tile-title a', has_text="Load").click()
    me.click("link", "5 h", exact=True)
    expect(me.page.locator("[data-plot=trend] path.js-line").first).to_be_visible()
    return me.text(".trend-figure figcaption")


def each_matrix(me: Newcomer) -> str:
    me.open("/balance")
    expect(me.page.locator("[data-matrix] .main-svg").first).to_be_visible(timeout=PATIENT_MS)
    return " / ".join(me.page.locator(".matrix-help").all_inner_texts())


def what_was_learned(me: Newcomer) -> str:
    me.open("/scale/narrow")
    return f"{me.text('#learner')[:160]} … {me.text('.served')}"


def replay_and_share(me: Newcomer) -> str:
    me.open("/history")
    me.click("link", "Replay")
    expect(me.page.locator("#replay-line svg")).to_be_visible(timeout=PATIENT_MS)
    me.click("button", "Event before")
    event = me.text("#replay-event")
    me.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    me.steps += 1
    me.page.locator("#copy-link").click()
    link = str(me.page.evaluate("navigator.clipboard.readText()"))
    assert "at=" in link, link
    other = me.page.context.new_page()
    other.goto(link)
    expect(other.locator("#replay-event")).to_have_text(event, timeout=PATIENT_MS)
    other.close()
    return f"{event}; the link opens there"


def another_scaler(me: Newcomer) -> str:
    me.open(f"/history/{me.run()}/what-if")
    return me.text(".conclusion")


def tune_and_stop(me: Newcomer) -> str:
    me.open(f"/history/{me.run()}/tune")
    me.page.fill("#tune-trials", "10")
    me.click("button", "Search", exact=True)
    me.page.locator("[data-tuning=running]").wait_for()
    me.click("button", "Stop", exact=True)
    me.page.locator("[data-tuning=stopped], [data-tuning=done]").first.wait_for()
    first = me.text("[data-tuning]")
    me.click("button", "Search", exact=True)
    me.page.locator("[data-tuning=done]").wait_for()
    return f"{first} … {me.text('.verdict')}"


def compare_and_import(me: Newcomer) -> str:
    me.open("/history")
    for box in me.page.get_by_role("checkbox").all()[:2]:
        me.steps += 1
        box.check()
    me.click("link", "Compare two runs")
    expect(me.page.locator(".compared")).to_contain_text("Executor-hours", timeout=PATIENT_MS)
    said = me.text(".compared tbody tr:nth-child(4)")
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "app-1"
        log.write_bytes(logs.text(logs.batch_log()))  # type: ignore[no-untyped-call]
        me.open("/history")
        with me.page.expect_file_chooser() as chooser:
            me.steps += 1
            me.page.locator("#upload-choose").click()
        chooser.value.set_files(log)
        expect(me.page.locator("#upload-text")).to_contain_text("Imported", timeout=PATIENT_MS)
    return f"{said}; {me.text('#upload-text')}"


def a_viewer(me: Newcomer) -> str:
    me.open("/users")
    me.page.get_by_label("Name of a new user").fill("kim")
    me.click("button", "Add user")
    me.page.wait_for_function("document.body.outerHTML.includes('/sign-in#link=')")
    found = re.search(r"\S*/sign-in#link=\S+", me.page.content().replace("&amp;", "&"))
    assert found is not None, "no one-time link"
    address = re.split(r"[\"'<> ]", found[0][found[0].index("/sign-in") :])[0]
    browser = me.page.context.browser
    assert browser is not None
    theirs = browser.new_context().new_page()
    theirs.goto(me.web.url + address)
    theirs.wait_for_timeout(2000)
    said = theirs.locator("h1").first.inner_text()
    theirs.context.close()
    return f"kim is asked: {said}"


def by_keyboard(me: Newcomer) -> str:
    me.open("/")
    me.page.locator("[data-recommendation]").first.wait_for()
    for key in ("j", "a"):
        me.steps += 1
        me.page.keyboard.press(key)
    dialog = me.page.get_by_role("dialog")
    expect(dialog).to_be_visible(timeout=PATIENT_MS)
    said = re.sub(r"\s+", " ", dialog.inner_text())[:120]
    me.page.keyboard.press("Escape")
    expect(dialog).to_be_hidden(timeout=PATIENT_MS)
    return said


def on_a_phone(me: Newcomer) -> str:
    me.page.set_viewport_size({"width": 390, "height": 844})
    wide = []
    for name, path in me.pages.items():
        if name in ("sign-in", "api"):
            continue
        me.open(path)
        if me.page.evaluate("document.documentElement.scrollWidth") > 390:
            wide.append(name)
    return f"too wide: {', '.join(wide) or 'none'} of {len(me.pages) - 2}"


def in_the_dark(me: Newcomer) -> str:
    me.open("/")
    me.steps += 1
    before = me.page.evaluate("getComputedStyle(document.body).backgroundColor")
    me.page.locator("#theme").click()
    after = me.page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert before != after
    return f"{before} to {after}"


def with_axe(me: Newcomer) -> str:
    if not AXE.is_file():
        return "axe is not there (./setup.sh --tests)"
    me.open("/")
    found = barriers(me.page)
    return f"{len(found)} serious or critical {'; '.join(found)}"


def nonsense(me: Newcomer) -> str:
    said = []
    for path in (
        "/cluster/nobody", "/trends/load/yesterday", f"/replay/{me.run()}?at=never",
        "/recommendation/0", "/no/such/page",
    ):  # fmt: skip
        me.open(path)
        said.append(me.text("h1") if "replay" not in path else me.text("#replay")[:90])
    return " / ".join(said)


TASKS: tuple[tuple[str, Callable[[Newcomer], str]], ...] = (
    ("Is all well, and what is the bottleneck", all_well),
    ("Understand one recommendation in full", one_recommendation),
    ("The last two hours of load", two_hours_of_load),
    ("Explain each matrix", each_matrix),
    ("What the Q-table says and which scaler suits", what_was_learned),
    ("Replay, jump to an action, share the link", replay_and_share),
    ("Would another scaler have done better", another_scaler),
    ("Tune ten trials, stop, go on", tune_and_stop),
    ("Compare two runs and import a log", compare_and_import),
    ("Add a viewer and look as it", a_viewer),
    ("By keyboard only", by_keyboard),
    ("On a phone", on_a_phone),
    ("In the dark", in_the_dark),
    ("With axe", with_axe),
    ("Nonsense addresses", nonsense),
)


def done(browser: Browser, web: WebServer, pages: dict[str, str], number: int) -> tuple[str, ...]:
    """One task in a profile of its own: seconds, steps and what was found."""
    title, task = TASKS[number]
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    context.add_cookies(web.cookies())
    me = Newcomer(context.new_page(), web, pages)
    began = time.monotonic()
    try:
        said = task(me)
    except Exception as error:  # a task that cannot be done is a result, and is told as one
        said = f"NOT DONE: {type(error).__name__}: {str(error).splitlines()[0][:200]}"
    took = time.monotonic() - began
    context.close()
    print(f"{number + 1}. {title}: {took:.1f} s, {me.steps} steps: {said}", flush=True)
    return str(number + 1), title, f"{took:.1f}", str(me.steps), said.replace("|", "/")


def main() -> int:
    """Do them and write the section."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", type=int, help="number of one task; nothing is written then")
    given = parser.parse_args()
    numbers = range(len(TASKS)) if given.only is None else [given.only - 1]
    with (
        tempfile.TemporaryDirectory(prefix="weir-tasks-") as made,
        small(Path(made)) as (web, pages),
        sync_playwright() as driver,
    ):
        browser = launch(driver)
        rows = [done(browser, web, pages, number) for number in numbers]
        browser.close()
    if given.only is None:
        heads = ("", "task", "seconds", "steps", "what the pages answered")
        report.write("Fifteen tasks", "python -m benchmarks.tasks", report.table(heads, rows))
    return int(any("NOT DONE" in row[-1] for row in rows))


if __name__ == "__main__":
    raise SystemExit(main())
