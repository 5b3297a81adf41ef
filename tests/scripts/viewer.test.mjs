import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { open, settled } from "./page.mjs";

const HTML = '<button id="copy-link"></button><span id="copied"></span><button data-window="5">5 min</button>';

function opened(url) {
  const page = open(["ui/dom.js", "live/chart-math.js", "live/chart-marks.js", "live/chart.js", "ui/viewer.js"], HTML, url);
  page.weir.now = () => 0;
  page.weir.models = { "wide/load": {} };
  return page;
}

describe("the time shown", () => {
  it("is taken from the address", () => {
    assert.equal(opened("http://weir.test/?window=2").weir.windowMs, 2 * 60e3);
  });
  it("is not what an address cannot mean", () => {
    for (const said of ["7", "x", ""]) assert.equal(opened(`http://weir.test/?window=${said}`).weir.windowMs, 15 * 60e3);
  });
  it("goes into the address, beside what is there", () => {
    const { window, document } = opened("http://weir.test/cluster/wide?feed=poll");
    document.querySelector("[data-window]").click();
    assert.equal(window.location.search, "?feed=poll&window=5");
  });
  it("is left out where it is the usual, or a page has no charts", () => {
    const page = opened("http://weir.test/?window=5");
    page.weir.models = {};
    page.weir.keepWindow();
    assert.equal(page.window.location.href, "http://weir.test/");
  });
});

describe("the link to what is shown", () => {
  it("is copied, and that is said", async () => {
    const page = opened("http://weir.test/scale/wide?window=5");
    let copied = "";
    Object.defineProperty(page.window.navigator, "clipboard", { value: { writeText: async (text) => (copied = text) } });
    page.document.getElementById("copy-link").click();
    await settled();
    assert.equal(copied, "http://weir.test/scale/wide?window=5");
    assert.equal(page.document.getElementById("copied").textContent, "The link is copied");
  });
  it("has the moment of a replay that was asked for, also before it is drawn", async () => {
    const page = opened("http://weir.test/replay/r?at=5000");
    page.weir.past = { run: "r", at: 9000.4, shown: 5000 };
    let copied = "";
    Object.defineProperty(page.window.navigator, "clipboard", { value: { writeText: async (text) => (copied = text) } });
    page.document.getElementById("copy-link").click();
    await settled();
    assert.equal(copied, "http://weir.test/replay/r?at=9000");
  });
});
