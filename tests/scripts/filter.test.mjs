import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { open } from "./page.mjs";

describe("a filter of many names", () => {
  const { window, document } = open(
    ["ui/dom.js", "ui/filter.js"],
    `<section data-filters><input data-filter><i data-filter-count></i>
       <table><tbody data-filtered><tr><th>Alpha-1</th><td>beta</td></tr><tr><th>beta-2</th></tr></tbody></table>
     </section><nav data-filtered><a>gamma</a></nav>`,
  );
  const type = (letters) => {
    document.querySelector("input").value = letters;
    document.querySelector("input").dispatchEvent(new window.Event("input", { bubbles: true }));
    return [...document.querySelectorAll("tr, nav a")].map((item) => !item.hidden);
  };
  it("goes by the names alone, in any case, within its own panel", () => {
    assert.deepEqual(type("BETA"), [false, true, true]);
    assert.equal(document.querySelector("i").textContent, "1 of 2");
  });
  it("shows all where nothing is typed", () => {
    assert.deepEqual(type(" "), [true, true, true]);
    assert.equal(document.querySelector("i").textContent, "");
  });
});
