import assert from "node:assert/strict";
import { beforeEach, describe, it } from "node:test";
import { open, settled } from "./page.mjs";

describe("the focus, when a panel is drawn anew", () => {
  let page, box;
  const draw = (html) => {
    box.innerHTML = html;
    return settled();
  };
  beforeEach(() => {
    const html = '<main id="content"><section id="inbox"><button aria-label="Approve a">Approve</button></section></main>';
    page = open(["ui/dom.js", "ui/focus.js"], html);
    box = page.document.getElementById("inbox");
    box.firstChild.focus();
  });
  const focused = () => page.document.activeElement;

  it("is on the same control", async () => {
    await draw('<button aria-label="Approve b">Approve</button><button aria-label="Approve a">Approve</button>');
    assert.equal(focused(), box.lastChild);
  });
  it("is on the panel where the control is gone", async () => {
    await draw("<p>Nothing to decide</p>");
    assert.equal(focused(), box);
  });
  it("is not taken from where somebody went meanwhile", async () => {
    page.document.body.append(Object.assign(page.document.createElement("input"), { id: "else" }));
    page.document.getElementById("else").focus();
    await draw('<button aria-label="Approve a">Approve</button>');
    assert.equal(focused().id, "else");
  });
  it("is not brought back to what was left", async () => {
    box.firstChild.blur();
    await settled();
    await draw('<button aria-label="Approve a">Approve</button>');
    assert.equal(focused(), page.document.body);
  });
  it("does not follow to another page", async () => {
    page.window.history.pushState({}, "", "/scale");
    await draw('<button aria-label="Approve a">Approve</button>');
    assert.equal(focused(), page.document.body);
  });
});
