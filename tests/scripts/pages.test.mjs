import assert from "node:assert/strict";
import { beforeEach, describe, it } from "node:test";
import { open, plain, press, sized } from "./page.mjs";

describe("a correlation matrix", () => {
  let page, drawn;
  beforeEach(() => {
    drawn = [];
    page = open(["ui/dom.js", "ui/late.js", "pages/balance/matrices.js"], '<div data-matrix="m"></div>');
    page.weir.models = {};
    page.weir.colour = (name) => name;
    page.window.Plotly = {
      react: (element, [trace], layout) => Promise.resolve(drawn.push({ trace, layout })),
      Fx: { hover: (element, at) => drawn.push(at), unhover() {} },
    };
    sized(page.document.querySelector("[data-matrix]"), 400, 300);
  });
  const model = {
    key: "m", rows: ["a", "b"], columns: ["a", "a very long operator"], values: [[1, -0.456], [null, 0.3]],
    periods: [[9, 9], [1, 9]], own: [[1, 1]], bands: [[0.5, "rise together"], [-0.2, "unrelated"], [-1, "opposed"]],
  };
  const draw = (more) => {
    page.weir.takeBalance({ matrices: [{ ...model, ...more }], events: {} });
    page.weir.drawMatrices();
    return plain(drawn[0]);
  };
  it("says what each cell means", () => {
    const { hovertext } = draw().trace;
    assert.equal(hovertext[0][0], "<b>a</b> with itself");
    assert.match(hovertext[0][1], /−0.46: opposed, over 9 periods$/);
    assert.match(hovertext[1][0], /too few periods/);
    assert.match(hovertext[1][1], /the rest of <b>a very long operator<\/b>/);
  });
  it("cuts long names and prints figures where there is room", () => {
    const { trace, layout } = draw();
    assert.deepEqual(layout.xaxis.ticktext, ["a", "a very long o…"]);
    assert.equal(trace.texttemplate, "%{text}");
    assert.deepEqual(trace.text, [["1.00", "−0.46"], ["?", "0.30"]]);
  });
  it("prints none where there is not", () => {
    sized(page.document.querySelector("[data-matrix]"), 160, 300);
    assert.equal(draw().trace.texttemplate, "");
  });
  it("is walked with the arrow keys and has an end", () => {
    draw();
    const element = page.document.querySelector("[data-matrix]");
    for (const key of ["ArrowRight", "ArrowRight", "ArrowRight", "ArrowDown", "ArrowDown"]) press(page, element, key);
    assert.deepEqual(plain(drawn.at(-1)), { xval: 1, yval: 1 });
  });
});

describe("Plotly", () => {
  it("comes with the first thing that needs it, which is then drawn once", () => {
    const page = open(["ui/late.js"]);
    const scripts = () => [...page.document.querySelectorAll("script")];
    assert.deepEqual(scripts(), []);
    let drawn = 0;
    const draw = () => (drawn += 1);
    page.weir.withPlotly(draw);
    page.weir.withPlotly(draw);
    assert.equal(scripts().length, 1);
    assert.equal(drawn, 0);
    page.window.Plotly = {};
    scripts()[0].onload();
    assert.equal(drawn, 1);
    page.weir.withPlotly(draw);
    assert.equal(drawn, 2);
  });
  it("is fetched again after it could not be had", () => {
    const page = open(["ui/late.js"]);
    const scripts = () => [...page.document.querySelectorAll("script")];
    page.weir.withPlotly(() => {});
    scripts()[0].onerror();
    assert.deepEqual(scripts(), []);
    page.weir.withPlotly(() => {});
    assert.equal(scripts().length, 1);
  });
});

describe("the Q-table", () => {
  const model = {
    first: 2, bins: ["1 s", "2 s"], actions: ["fewer", "same", "more"], present: 5, // 2 s, rising
    values: [[0, 0.5, -1], [0, 0, 0], [0, 0, 0], [0.1, 0.2, 0.3]],
    visits: [[1, 2, 3], [0, 0, 0], [0, 0, 0], [4, 5, 6]],
    priors: [[0, 0, 0], [0, 0, 0], [0, 0, 0], [0, -0.4, 0]],
    best: [1, 0, 0, 2], trail: [[0, 4, 1, -0.5, 7], [0, 99, 1, 0, 4]],
  };
  let page, box;
  beforeEach(() => {
    page = open(["ui/dom.js", "pages/scale/qtable.js"], "<div data-qtable tabindex=0></div>");
    box = sized(page.document.querySelector("[data-qtable]"), 690, 150);
    page.weir.drawQtable(box, model);
  });
  const cell = (state, action) => box.querySelector(`[data-state="${state}"][data-action="${action}"]`);

  it("has a cell for every state and action", () => {
    assert.equal(box.querySelectorAll(".q-cell").length, 12);
    assert.equal(cell(4, 1).querySelector(".q-value").textContent, "★0.50");
    assert.equal(cell(4, 2).querySelector(".q-value").textContent, "−1.00");
    assert.equal(cell(7, 2).querySelector(".q-visits").textContent, "×6");
  });
  it("keeps apart what was learned and what was never tried", () => {
    assert.equal(box.querySelectorAll(".q-prior").length, 6);
    assert.equal(cell(5, 0).querySelector("rect").style.fill, "var(--off-soft)");
    assert.equal(cell(5, 0).querySelector(".q-visits").textContent, "prior");
    assert.equal(cell(7, 2).classList.contains("q-prior"), false);
  });
  it("has titles on its axes", () => {
    assert.deepEqual([...box.querySelectorAll(".q-axis")].map((e) => e.textContent), ["Workload", "Latency"]);
  });
  it("frames the present state in every panel, and draws steps that it shows", () => {
    assert.equal(box.querySelectorAll(".q-present").length, 3);
    assert.deepEqual([...box.querySelectorAll("[data-step]")].map((e) => e.dataset.step), ["0"]);
  });
  it("is walked with the arrow keys and has an end", () => {
    press(page, box, "ArrowDown"); // begins at the present state
    assert.ok(cell(5, 0).classList.contains("q-here"));
    for (const key of ["ArrowDown", "ArrowDown", "ArrowRight", "ArrowRight"]) press(page, box, key);
    assert.ok(cell(7, 1).classList.contains("q-here"));
    assert.match(box.querySelector(".tip").textContent, /latency 2 s, workload rising.*learned0.200.*prior, before that−0.400.*tried5 times/);
  });
});

describe("the timeline of a replay", () => {
  const { weir, document } = open(["ui/dom.js", "live/chart-math.js", "pages/replay/line.js"], '<div id="line"></div>');
  const line = document.getElementById("line");
  const draw = (more) =>
    weir.drawTimeline(line, {
      first_at: 0, last_at: 100, period_s: 2, at: [0, 50, 100], values: [0, 10, 5], marks: [], label: "Rows waiting", unit: "rows", ...more,
    });
  const path = () => line.querySelector("path").getAttribute("d");
  it("is as high as its highest value", () => {
    draw();
    assert.equal(path(), "M0.0 40L0.0 39.0L500.0 2.0L1000.0 20.5L1000.0 40Z");
    assert.equal(line.querySelector(".line-words").textContent, "Rows waiting, at most 10 rows");
  });
  it("has a gap where nobody reported", () => {
    draw({ at: [0, 1, 2, 3, 4, 5, 6, 7, 90, 100], values: Array(10).fill(1) });
    assert.equal(path().match(/Z/g).length, 2);
  });
  it("survives a run without values", () => {
    draw({ at: [], values: [] });
    assert.equal(line.querySelector("path"), null);
  });
  it("has marks where things happened, those of one kind together", () => {
    draw({ marks: [{ at: 75e3, kind: "settings", text: "s" }, { at: 25e3, kind: "action", text: "scaled" }, { at: 1, kind: "unknown", text: "" }] });
    const found = [...line.querySelectorAll(".mark")].map((mark) => [mark.className, mark.style.left]);
    assert.deepEqual(found, [["mark mark-action", "25%"], ["mark mark-settings", "75%"]]);
  });
});

describe("the Trends page", () => {
  const page = open(["ui/dom.js", "pages/history/plots.js", "live/large.js", "pages/trends/page.js"], '<span data-own-range="/t" data-from="0" data-to="60000"><button></button></span>');

  it("writes a chart as CSV, without its gaps", () => {
    const lines = [{ name: 'a,"b"', x: [0, 500, 1000], y: [1.5, null, 2] }];
    assert.equal(
      page.weir.csvOf({ kind: "times", whose: "cluster", title: "Queue", unit: "rows", lines }),
      'time,cluster,Queue (rows)\n1970-01-01T00:00:00.000Z,"a,""b""",1.5\n1970-01-01T00:00:01.000Z,"a,""b""",2\n',
    );
  });
  it("makes the fields of a range once, however often the page is drawn", () => {
    const inputs = () => [...page.document.querySelectorAll("input[type=datetime-local]")];
    page.weir.fillRanges();
    const fields = inputs();
    page.weir.fillRanges(); // a change here would be a reason to draw again, without end
    assert.deepEqual(inputs(), fields);
    assert.equal(fields.length, 2);
    assert.equal(fields[1].value, page.weir.localTime(60000));
  });
});

describe("the bar of a replay", () => {
  it("has no infinite moments before it knows how long the run is", () => {
    const page = open(
      ["ui/dom.js", "pages/replay/bar.js"],
      '<div id="replay" hidden><button data-replay="play"></button><span id="replay-clock"></span>' +
        '<span id="replay-name"></span><span id="replay-event"></span><div id="replay-line"></div></div>',
    );
    page.window.fetch = () => new Promise(() => {}); // the timeline is on its way
    page.weir.clock = () => "12:00:00";
    page.weir.showCurrent = () => {}; // which link is the current one is of no matter here
    page.weir.enterPast({ run: "r", path: "/", page: "control_room", at: 1000, seen: {} });
    const line = page.document.getElementById("replay-line");
    const said = [line.getAttribute("aria-valuemax"), line.getAttribute("aria-valuenow")];
    page.window.close(); // it looks again and again whether it plays
    assert.deepEqual(said, ["0", "0"]);
  });
});
