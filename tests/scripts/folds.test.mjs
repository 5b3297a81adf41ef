import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { open, settled } from "./page.mjs";

const DRAWN = ["a", "b"].map((name) => `<section data-cluster="${name}"><details><summary>More</summary></details></section>`).join("");

describe("what a person unfolded", () => {
  it("is unfolded when the page is drawn again, and nothing else is", async () => {
    const { document } = open(["ui/folds.js"], '<main id="content"></main>');
    const content = document.getElementById("content");
    content.innerHTML = DRAWN;
    await settled();
    content.querySelector("[data-cluster=b] details").open = true;
    await settled();
    await settled();
    content.innerHTML = DRAWN;
    await settled();
    assert.deepEqual([...content.querySelectorAll("details")].map((fold) => fold.open), [false, true]);
  });
});
