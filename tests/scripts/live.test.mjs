import assert from "node:assert/strict";
import { beforeEach, describe, it } from "node:test";
import { open, plain } from "./page.mjs";

const MINUTE = 60e3;

describe("texts that age", () => {
  const { weir, document } = open(["ui/dom.js", "live/texts.js"]);
  const now = Date.UTC(2026, 0, 2, 12);
  const text = (name, at) => {
    document.body.innerHTML = `<span data-${name}="${at}"></span>`;
    weir.texts.tick(now, {}, {});
    return document.body.textContent;
  };
  it("say how long ago", () => {
    assert.equal(text("since", now - 119e3), "119 s");
    assert.equal(text("since", now - 2 * MINUTE), "2 min");
    assert.equal(text("since", now - 3 * 60 * MINUTE), "3 h");
    assert.equal(text("since", now + 5e3), "0 s"); // clocks differ a little
  });
  it("count down", () => {
    assert.equal(text("until", now + 59e3), "59 s");
    assert.equal(text("until", now + 125e3), "2:05 min");
    assert.equal(text("until", now - 1), "0 s");
  });
  it("name the day unless it is today", () => {
    assert.match(text("stamp", now), /^\d\d:\d\d:\d\d$/);
    assert.match(text("stamp", now - 48 * 60 * MINUTE), /2025, \d\d:\d\d:\d\d$/);
  });
  it("say that a cluster is silent, and mark its panel", () => {
    document.body.innerHTML = '<section data-cluster="wide"><b data-age-of="wide"></b></section>';
    const age = document.querySelector("b");
    weir.texts.tick(now, { wide: now - 5000 }, { wide: 6000 });
    assert.deepEqual([age.textContent, age.dataset.state], ["live", "ok"]);
    weir.texts.tick(now, { wide: now - 7000 }, { wide: 6000 });
    assert.deepEqual([age.textContent, age.dataset.state], ["no data for 7 s", "bad"]);
    assert.ok(age.parentElement.classList.contains("is-stale"));
  });
});

describe("figures", () => {
  let page;
  beforeEach(() => {
    page = open(
      ["ui/dom.js", "live/figures.js"],
      '<b data-live="load"></b><i data-live="load" data-keep="text">stays</i><s data-bar="load"></s>' +
        `<div><b data-live="rate" data-sets='{"type":"rate"}'>400</b><input></div>`,
    );
    page.weir.filterOverview = () => {};
  });
  const show = (found) => page.weir.figures.show(found);

  it("stand wherever their key does", () => {
    show({ load: ["0.52", "warn", 0.52], unknown: ["1", "", 0] });
    const [first, kept] = page.document.querySelectorAll("[data-live=load]");
    assert.deepEqual([first.textContent, first.dataset.state], ["0.52", "warn"]);
    assert.deepEqual([kept.textContent, kept.dataset.state], ["stays", "warn"]);
    assert.equal(page.document.querySelector("[data-bar]").style.width, "52%");
  });
  it("are found on elements that came later", () => {
    show({ load: ["0.1", "", null] });
    page.document.body.insertAdjacentHTML("beforeend", '<b id="new" data-live="load"></b>');
    page.weir.figures.forget();
    page.weir.figures.fill({ load: ["0.2", "ok", null] });
    assert.equal(page.document.getElementById("new").textContent, "0.2");
  });
  it("move a control that somebody else has set", () => {
    show({ rate: ["500", "", null] });
    assert.deepEqual(plain(page.sent), [[{ type: "rate" }, { value: 500 }]]);
  });
  it("leave a control alone that somebody is about to set", () => {
    page.document.querySelector("input").focus();
    show({ rate: ["500", "", null] });
    assert.deepEqual(page.sent, []);
  });
});
