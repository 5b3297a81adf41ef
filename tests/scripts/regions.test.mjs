import assert from "node:assert/strict";
import { beforeEach, describe, it } from "node:test";
import { open, plain, settled } from "./page.mjs";

const div = (props, ...children) => ({ type: "Div", props: { ...props, children } });
const item = (id, ...children) => ({ type: "Li", props: { "data-recommendation": id, children } });

describe("a panel that is sent whole", () => {
  let page, box;
  const take = (tree) => page.weir.takeRegions({ inbox: tree });
  beforeEach(() => {
    page = open(["ui/dom.js", "live/regions.js"], '<section id="inbox" data-region></section>');
    box = page.document.getElementById("inbox");
  });

  it("becomes elements; what is nothing is left out", () => {
    take([div({ className: "a", htmlFor: "b", hidden: true, title: null }, "text", null, false, 0), "end"]);
    assert.equal(box.innerHTML, '<div class="a" for="b" hidden="">text0</div>end');
  });
  it("keeps markup in a text a text", () => {
    take(div({}, "<b>bold</b>"));
    assert.equal(box.querySelector("b"), null);
  });
  it("keeps elements that are the same, and changes only what differs", () => {
    take([div({ className: "one" }, "a"), div({}, "b")]);
    const [first, second] = box.children;
    take([div({ className: "two" }, "a"), div({}, "c")]);
    assert.deepEqual([...box.children], [first, second]);
    assert.equal(box.innerHTML, '<div class="two">a</div><div>c</div>');
  });
  it("takes away an attribute that is gone", () => {
    take(div({ title: "why", style: { width: "3px", "--at": "5%" } }));
    take(div({ style: { width: "4px", "--at": "6%" } }));
    const element = box.firstChild;
    assert.equal(element.hasAttribute("title"), false);
    assert.deepEqual([element.style.width, element.style.getPropertyValue("--at")], ["4px", "6%"]);
  });
  it("moves what stands for one thing, and keeps its element", () => {
    take([item("a", "A"), item("b", "B"), item("c", "C")]);
    const [a, , c] = box.children;
    take([item("c", "C2"), item("a", "A"), item("d", "D")]);
    assert.deepEqual([...box.children].map((e) => e.textContent), ["C2", "A", "D"]);
    assert.equal(box.children[0], c);
    assert.equal(box.children[1], a);
  });
  it("removes one from the middle without touching the others", () => {
    take([item("a", "A"), item("b", "B"), item("c", "C")]);
    const [a, , c] = box.children;
    take([item("a", "A"), item("c", "C")]);
    assert.deepEqual([...box.children], [a, c]);
  });
  it("replaces an element of another kind", () => {
    take([div({}, "a")]);
    take([{ type: "P", props: { children: "a" } }]);
    assert.equal(box.innerHTML, "<p>a</p>");
  });
  it("leaves to the feed what the feed fills", () => {
    const figure = (state) => ({ type: "Span", props: { "data-live": "load", "data-state": state, children: "" } });
    take(figure("ok"));
    box.firstChild.textContent = "0.52";
    box.firstChild.dataset.state = "bad";
    take(figure("warn"));
    assert.equal(box.firstChild.textContent, "0.52");
    assert.equal(box.firstChild.dataset.state, "bad");
  });
  it("leaves a button off that a role does not allow", () => {
    const button = (title) => ({ type: "Button", props: { title, disabled: false, children: "Approve" } });
    take(button("a"));
    Object.assign(box.firstChild, { disabled: true, title: "This needs the role admin" }).dataset.limited = "";
    take(button("b"));
    assert.equal(box.firstChild.disabled, true);
    assert.equal(box.firstChild.title, "This needs the role admin");
  });
  it("survives any change into any other", () => {
    let seed = 7;
    const random = (n) => (seed = (seed * 16807) % 2147483647) % n;
    const tree = () =>
      Array.from({ length: random(6) }, (_, i) =>
        random(3) ? item("abcdef"[(random(6) + i) % 6] + i, `${random(9)}`) : div({ className: "x" + random(3) }, `${random(9)}`),
      );
    for (let round = 0; round < 300; round++) {
      const next = tree();
      take(next);
      const fresh = page.document.createElement("section");
      fresh.id = "fresh";
      page.document.body.append(fresh);
      page.weir.takeRegions({ fresh: next });
      assert.equal(box.innerHTML, fresh.innerHTML, JSON.stringify(next));
      fresh.remove();
    }
  });
  it("is filled when the page has just been drawn", async () => {
    take(div({}, "known"));
    box.remove();
    page.document.body.innerHTML = '<section id="inbox" data-region></section>';
    await settled();
    assert.equal(page.document.getElementById("inbox").textContent, "known");
  });
  it("tells Dash what was pressed", () => {
    take({ type: "Button", props: { id: { type: "approve", id: "r1" }, children: "Approve" } });
    box.firstChild.click();
    const [[id, { data }]] = plain(page.sent);
    assert.equal(id, "pressed-approve");
    assert.deepEqual([data.type, data.id], ["approve", "r1"]);
  });
});
