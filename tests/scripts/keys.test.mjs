import assert from "node:assert/strict";
import { beforeEach, describe, it } from "node:test";
import { open, press, settled } from "./page.mjs";

const ITEM = (id) =>
  `<li data-recommendation="${id}" tabindex="-1"><a href="/recommendation/${id}">d</a>` +
  '<button data-verb="approve">a</button><button data-verb="reject" disabled>r</button></li>';

describe("keys of the inbox", () => {
  let page, body, clicked;
  beforeEach(() => {
    page = open(["ui/keys.js"], `<ul>${ITEM("a")}${ITEM("b")}</ul><input id="text"><div id="elsewhere"></div>`);
    body = page.document.body;
    page.window.HTMLElement.prototype.scrollIntoView = () => {};
    clicked = [];
    page.document.addEventListener("click", (event) => {
      event.preventDefault();
      const { verb } = event.target.dataset;
      clicked.push((verb || "details") + " " + event.target.closest("li").dataset.recommendation);
    });
  });
  const chosen = () => page.document.activeElement.dataset.recommendation;

  it("walk along the list and stop at its ends", () => {
    const seen = ["j", "j", "j", "k", "k"].map((key) => (press(page, page.document.activeElement, key), chosen()));
    assert.deepEqual(seen, ["a", "b", "b", "a", "a"]);
  });
  it("press the buttons of the chosen one, if they are on", () => {
    press(page, body, "j");
    press(page, body, "a");
    press(page, body, "r");
    assert.deepEqual(clicked, ["approve a"]);
  });
  it("never act before one is chosen", () => {
    press(page, body, "a");
    assert.deepEqual(clicked, []);
    assert.equal(chosen(), "a");
  });
  it("open the details with Enter", () => {
    press(page, body, "j");
    press(page, page.document.activeElement, "Enter");
    assert.deepEqual(clicked, ["details a"]);
  });
  it("leave the arrows to the page outside the inbox", () => {
    assert.equal(press(page, page.document.getElementById("elsewhere"), "ArrowDown").defaultPrevented, false);
    press(page, body, "j");
    assert.equal(press(page, page.document.activeElement, "ArrowDown").defaultPrevented, true);
    assert.equal(chosen(), "b");
  });
  it("do nothing while somebody types, holds a modifier or has a dialog open", () => {
    press(page, page.document.getElementById("text"), "j");
    press(page, body, "j", { ctrlKey: true });
    body.insertAdjacentHTML("beforeend", '<div role="dialog"></div>');
    press(page, body, "j");
    assert.equal(chosen(), undefined);
  });
  it("give the focus back when the list is drawn again", async () => {
    press(page, body, "j");
    page.document.querySelector("ul").innerHTML = ITEM("b") + ITEM("a");
    await settled();
    assert.equal(chosen(), "a");
  });
});
