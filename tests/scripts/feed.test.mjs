import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, it } from "node:test";
import { open, plain, settled } from "./page.mjs";

const QUIET = ["link.heard", "link.banner", "texts.tick", "figures.show", "figures.forget", "takeRegions"];

describe("the feed", () => {
  let page, brought;
  beforeEach(() => {
    page = open(["ui/dom.js", "live/feed.js"], '<div id="feed"></div>');
    const { weir } = page;
    Object.assign(weir, { link: {}, texts: {}, figures: {}, drawCharts() {} });
    for (const name of QUIET) name.split(".").reduce((at, key, i, all) => (all[i + 1] ? at[key] : (at[key] = () => {})), weir);
    for (const name of ["enterPast", "zoom", "takeBalance", "takeScale", "takeEvents", "markNav", "keepWindow",
      "bind", "drawMap", "drawOverview", "drawMatrices", "drawPlots", "drawScale", "fillRanges"]) weir[name] = () => {};
    weir.send = (id, props) => page.sent.push([id, props]);
    brought = [];
    weir.takeRegions = (found) => found && brought.push(...Object.keys(plain(found)));
    page.window.dash_clientside.weir.page({ now: 0, charts: [], cursor: cursor({ inbox: "a" }) });
  });
  afterEach(async () => {
    page.document.getElementById("feed").remove(); // with what the observers look at
    await settled();
    page.window.close(); // its timers
  });
  const cursor = (regions) => ({ path: "/", page: "p", drawn: 1, at: {}, regions });
  const come = async (number, after, regions, found) => {
    const message = { now: 0, path: "/", cursor: cursor(regions), regions: found };
    page.document.getElementById("feed").dataset.message = JSON.stringify({ via: "push", now: 0, drawn: 1, number, after, message });
    await settled();
  };

  it("takes messages that follow each other", async () => {
    await come(1, 0, { inbox: "b" }, { inbox: "x" });
    await come(2, 1, { inbox: "c" }, { inbox: "y" });
    assert.deepEqual(brought, ["inbox", "inbox"]);
    assert.equal(page.weir.cursor().regions.inbox, "c");
  });
  it("says where it stands when one before has not come, and does not claim to have it", async () => {
    await come(1, 0, { inbox: "b" }, { inbox: "x" });
    page.sent.length = 0;
    await come(3, 2, { inbox: "c" }, {});
    const [[id, props]] = page.sent;
    assert.equal(id, "cursor");
    assert.equal(props.data.regions.inbox, "b");
    assert.ok(props.data.lost > 0);
    await come(4, 0, { inbox: "c" }, { inbox: "y" });
    assert.deepEqual(brought, ["inbox", "inbox"]);
    assert.equal(page.weir.cursor().lost, props.data.lost);
  });
});
