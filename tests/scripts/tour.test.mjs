import assert from "node:assert/strict";
import { beforeEach, describe, it } from "node:test";
import { open, settled } from "./page.mjs";

const step = (at) => `<li data-tour-at="${at}" hidden></li>`;
const buttons = ["show", "back", "next", "over"].map((verb) => `<button data-tour="${verb}">Next</button>`).join("");
const TOUR = `<section id="tour" hidden>${step("#rate")}${step("#inbox")}${step("#inbox")}${buttons}</section>`;

describe("the guided first run", () => {
  let page;
  const press = (verb) => page.document.querySelector(`[data-tour="${verb}"]`).click();
  const shown = () => [...page.document.querySelectorAll("[data-tour-at]")].findIndex((e) => !e.hidden);
  const hidden = () => page.document.getElementById("tour").hidden;
  const draw = () => {
    page.document.getElementById("here").innerHTML = TOUR;
    return settled();
  };
  beforeEach(async () => {
    const html = '<main id="content" tabindex="-1"><div id="here"></div><input id="rate"><div id="inbox"></div></main>';
    page = open(["ui/dom.js", "pages/control_room/tour.js"], html);
    await draw();
  });

  it("begins with the first step and goes on one by one", () => {
    assert.deepEqual([hidden(), shown()], [false, 0]);
    press("next");
    assert.equal(shown(), 1);
    press("back");
    assert.equal(shown(), 0);
    assert.equal(page.document.querySelector('[data-tour="back"]').disabled, true);
  });
  it("leads to the place that a step is about", () => {
    press("show");
    assert.equal(page.document.activeElement.id, "rate");
    press("next");
    press("show");
    assert.equal(page.document.activeElement.id, "inbox");
  });
  it("stays where it was when the page is drawn anew", async () => {
    press("next");
    await draw();
    assert.deepEqual([hidden(), shown()], [false, 1]);
  });
  it("is over for good once it is dismissed", async () => {
    press("over");
    assert.equal(hidden(), true);
    assert.equal(page.window.localStorage.getItem("weir-tour"), "over");
    assert.equal(page.document.activeElement.id, "content");
    await draw();
    assert.equal(hidden(), true);
  });
  it("is over for good after its last step", () => {
    press("next");
    press("next");
    assert.equal(page.document.querySelector('[data-tour="next"]').textContent, "Done");
    press("next");
    assert.equal(hidden(), true);
  });
});
