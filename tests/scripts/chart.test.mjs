import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { open, plain } from "./page.mjs";

const { weir } = open(["ui/dom.js", "live/chart-math.js", "live/chart-marks.js", "live/chart.js"]);
const { nearest, number, paths, scale, summary, timeStep } = weir.math;
const same = (value) => value;

describe("figures of an axis", () => {
  it("are short", () => {
    assert.deepEqual([0, 0.125, 9.999, 12.34, 999.6, 12345, 2.5e6].map(number), [
      "0", "0.13", "10", "12.3", "1,000", "12.3 k", "2.5 M",
    ]);
  });
  it("keep their sign", () => assert.equal(number(-12345), "-12.3 k"));
});

describe("the scale of an axis", () => {
  it("goes in steps that people count in", () => {
    for (const top of [0.007, 0.3, 1, 7, 42, 999, 12345]) {
      const { step } = scale(top);
      const first = step / 10 ** Math.floor(Math.log10(step) + 1e-9);
      assert.ok([1, 2, 2.5, 5].some((f) => Math.abs(f - first) < 1e-6), `${top}: ${step}`);
    }
  });
  it("reaches the top and wastes little", () => {
    for (let top = 0.01; top < 1e6; top *= 1.37) {
      const { top: full, step } = scale(top);
      assert.ok(full >= top - step * 0.02 && full <= top * 1.25, `${top}: ${full}`);
    }
  });
  it("has whole steps where things are counted", () => assert.equal(scale(2.5, true).step, 1));
  it("has no more times than there is room for", () => {
    assert.equal(timeStep(15 * 60e3, 600), 120e3);
    assert.equal(timeStep(60e3, 600), 15e3);
    assert.equal(timeStep(24 * 3600e3, 600), 900e3);
  });
});

describe("a chart in words", () => {
  const model = {
    x: [0, 10, 20],
    y: [[9, 0.4, 0.5], [null, null, null]],
    traces: [{ name: "load" }, { name: "latency", unit: "s" }],
    unit: "",
  };
  it("says each line's last value and its reach within what is shown", () => {
    assert.equal(summary(model, 5), "load 0.5 now, 0.4 to 0.5; latency not measured");
  });
  it("says so where nothing is shown", () => {
    assert.equal(summary(model, 99), "load not measured; latency not measured");
  });
});

describe("the nearest point", () => {
  const x = [0, 10, 20, 40];
  it("is found by halving", () => {
    for (const [time, index] of [[-5, 0], [4, 0], [6, 1], [29, 2], [31, 3], [99, 3]])
      assert.equal(nearest(x, time), index, `at ${time}`);
  });
});

describe("a line", () => {
  const draw = (x, y, lower = null, stepped = false) => plain(paths(x, y, lower, 0, same, same, 100, stepped));
  it("joins the points, with the area under it", () => {
    assert.deepEqual(draw([0, 1, 2], [5, 6, 7]), ["M0.0 5.0L1.0 6.0L2.0 7.0", "M0.0 5.0L1.0 6.0L2.0 7.0L2.0 100L0.0 100Z"]);
  });
  it("has a gap where a value is missing", () => {
    assert.equal(draw([0, 1, 2, 3, 4], [1, 1, null, 1, 1])[0], "M0.0 1.0L1.0 1.0M3.0 1.0L4.0 1.0");
  });
  it("has a gap where nobody reported for a while", () => {
    assert.equal(draw([0, 1, 2, 9, 10], [1, 1, 1, 1, 1])[0], "M0.0 1.0L1.0 1.0L2.0 1.0M9.0 1.0L10.0 1.0");
  });
  it("shows a point that stands alone", () => assert.equal(draw([3], [4])[0], "M3.0 4.0h0.1"));
  it("goes in steps where values hold until the next", () => {
    assert.equal(draw([0, 1], [1, 2], null, true)[0], "M0.0 1.0H1.0V2.0");
  });
  it("stands on the one below it where they are stacked", () => {
    assert.equal(draw([0, 1], [5, 6], [1, 2])[1], "M0.0 5.0L1.0 6.0L1.0 2.0L0.0 1.0Z");
  });
});

describe("new points of a series", () => {
  const minute = 60e3;
  it("come once, also when they are sent twice", () => {
    weir.models = { load: { x: [1, 2], y: [[10, 20]] } };
    weir.append("load", { x: [2, 3], y: [[20, 30]] });
    assert.deepEqual(plain(weir.models.load), { x: [1, 2, 3], y: [[10, 20, 30]] });
  });
  it("push out what is older than the longest time shown", () => {
    weir.models = { load: { x: [0, minute], y: [[1, 2]] } };
    weir.append("load", { x: [15.5 * minute], y: [[3]] });
    assert.deepEqual(plain(weir.models.load), { x: [minute, 15.5 * minute], y: [[2, 3]] });
  });
  it("of a chart that is not on the page are left", () => weir.append("nobody", { x: [1], y: [[1]] }));
});

describe("marks", () => {
  const chart = { model: { cluster: "wide", events: [] }, start: 0, end: 100, px: same };
  it("are those of the cluster and of the time shown", () => {
    weir.takeEvents({ wide: [{ at: 50, text: "scaled" }, { at: 500, text: "later" }], narrow: [{ at: 50, text: "other" }] });
    assert.equal(weir.marks.at(chart, 55).text, "scaled");
    assert.equal(weir.marks.at(chart, 80), null);
    assert.doesNotMatch(weir.marks.draw(chart, 0, 0, 10), /later|other/);
  });
  it("that lead somewhere come first", () => {
    weir.takeEvents({ wide: [{ at: 50, text: "near" }, { at: 54, text: "leads", href: "/recommendation/1" }] });
    assert.equal(weir.marks.at(chart, 50).text, "leads");
  });
  it("say what they are without becoming elements", () => {
    weir.takeEvents({ wide: [{ at: 50, text: '<img src="x">' }] });
    assert.doesNotMatch(weir.marks.draw(chart, 0, 0, 10), /<img/);
    weir.marked = { at: 50, text: "<b>", href: "/x" };
    assert.match(weir.marks.tip(), /&#60;b&#62;.*click or Enter/);
  });
});
