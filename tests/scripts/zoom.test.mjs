import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { open, plain, sized } from "./page.mjs";

const SCRIPTS = [
  "ui/dom.js", "live/chart-math.js", "live/chart-marks.js", "live/chart.js", "live/zoom.js",
  "live/large.js",
];
const HTML = '<figure class="tile"><div class="plot" data-chart="load" aria-label="Load"></div></figure>';
const MINUTE = 60e3;

function drawn() {
  const page = open(SCRIPTS, HTML);
  const { weir, document, window } = page;
  const x = [0, 1, 2, 3, 4, 5].map((i) => i * MINUTE);
  weir.present = () => 5 * MINUTE;
  weir.now = weir.present;
  weir.models = {
    load: {
      key: "load", title: "Load", unit: "%", cluster: "wide", x, y: [x.map((_, i) => i)], line: null,
      traces: [{ name: "arriving work", colour: "series-1", style: "area" }],
    },
  };
  weir.takeEvents({ wide: [{ at: 3 * MINUTE, text: "scaled", href: "/recommendation/1" }] });
  const plot = sized(document.querySelector(".plot"), 350, 132);
  weir.bind();
  const chart = weir.chartIn(plot);
  const point = (type, clientX) => {
    const event = new window.MouseEvent(type, { bubbles: true, cancelable: true, clientX });
    plot.dispatchEvent(event);
  };
  const drag = (from, to) => {
    point("pointerdown", from);
    point("pointermove", to);
    point("pointerup", to);
    point("click", to);
  };
  const px = (t) => 38 + chart.px(t);
  return { ...page, chart, drag, point, px };
}

describe("dragging over a live chart", () => {
  it("shows that stretch on all charts, and opens nothing", () => {
    const { weir, chart, drag, px } = drawn();
    const gone = [];
    weir.go = (href) => gone.push(href);
    drag(px(1 * MINUTE), px(3 * MINUTE)); // ends on the mark of a recommendation
    assert.deepEqual(gone, []);
    assert.deepEqual(plain([chart.start, chart.end].map(Math.round)), [MINUTE, 3 * MINUTE]);
  });
  it("is undone by Escape, a double-click or the button", () => {
    const { weir, chart, drag, point, px, document, window } = drawn();
    const whole = [chart.start, chart.end];
    const ways = [
      () => document.dispatchEvent(new window.KeyboardEvent("keydown", { key: "Escape" })),
      () => point("dblclick", 100),
      () => document.getElementById("zoomed").click(),
    ];
    for (const undo of ways) {
      drag(px(1 * MINUTE), px(3 * MINUTE));
      assert.ok(!document.getElementById("zoomed").hidden);
      undo();
      assert.deepEqual([chart.start, chart.end], whole);
      assert.ok(document.getElementById("zoomed").hidden);
      assert.equal(weir.zoomed, null);
    }
  });
  it("leaves a click a click", () => {
    const { weir, chart, drag, px } = drawn();
    const gone = [];
    weir.go = (href) => gone.push(href);
    const whole = [chart.start, chart.end];
    drag(px(3 * MINUTE), px(3 * MINUTE) + 2);
    assert.deepEqual(gone, ["/recommendation/1"]);
    assert.deepEqual([chart.start, chart.end], whole);
  });
});

describe("a chart that is open large", () => {
  it("has the lines of the small one", () => {
    const { weir } = drawn();
    const plot = plain(weir.plotOf(weir.models.load));
    assert.deepEqual(plot.span, [0, 5 * MINUTE]);
    assert.deepEqual(plot.lines[0].y, [0, 1, 2, 3, 4, 5]);
    assert.equal(plot.lines[0].name, "arriving work");
  });
  it("is saved as rows of time, line and value that no spreadsheet runs", () => {
    const { weir } = drawn();
    const lines = [{ name: "=wide", x: [0, 1000], y: [1, null] }];
    assert.equal(
      weir.csvOf({ kind: "times", title: "Load", unit: "%", lines }),
      "time,line,Load (%)\n1970-01-01T00:00:00.000Z,'=wide,1\n",
    );
    assert.equal(
      weir.csvOf({ title: "Load", unit: "%", x: [0, 2], lines: [{ name: "a, b", y: [1, 2] }] }),
      'seconds since the start,line,Load (%)\n0,"a, b",1\n2,"a, b",2\n',
    );
  });
});
