import assert from "node:assert/strict";
import { beforeEach, describe, it } from "node:test";
import { open, plain } from "./page.mjs";

const operator = (cluster, more = {}) => ({
  cluster, of: "", href: "/", status: "running", idle: false, busy: 0.1, waiting: 0, queue: 5, moving: "", ...more,
});
const edge = (source, target, dataset, rate = 10) => ({ id: `${source}>${target}>${dataset}`, source, target, dataset, rate });
const cluster = { href: "/", takes: true };

describe("what the map shows", () => {
  let graph;
  beforeEach(() => {
    graph = open(["ui/dom.js", "live/chart-math.js", "pages/control_room/map/graph.js"]).weir.mapGraph;
  });
  const shown = (map, ...turned) => graph.visible(map, new Set(turned));
  const ids = (found) => plain(found.nodes.map((node) => node.id)).sort();
  const flows = (found) => plain(found.edges.map((one) => [one.source, one.target, graph.flowName(one)]));

  const moved = {
    clusters: { wide: cluster, narrow: cluster },
    operators: { extractor: operator("wide"), top_n: operator("wide"), topic_count: operator("narrow") },
    edges: [edge("tweets", "extractor", "tweets"), edge("topic_count", "top_n", "counts"), edge("extractor", "topic_count", "topics")],
  };
  const sliced = {
    clusters: { wide: cluster, narrow: cluster },
    operators: {
      extractor: operator("wide"), top_n: operator("narrow"),
      "count.0": operator("narrow", { of: "count", busy: 0.3 }),
      "count.1": operator("narrow", { of: "count", busy: 0.2, queue: null }),
      "count.2": operator("wide", { of: "count" }),
    },
    edges: ["count.0", "count.1", "count.2"].flatMap((slice) => [edge("extractor", slice, "topics", 20), edge(slice, "top_n", "counts", 3)]),
  };

  it("has every flow from its source to its target after a move", () => {
    assert.deepEqual(flows(shown(moved)), [
      ["data:tweets", "operator:extractor", ""],
      ["operator:topic_count", "operator:top_n", "counts"],
      ["operator:extractor", "operator:topic_count", "topics"],
    ]);
    const top = shown(moved).nodes.find((node) => node.name === "top_n");
    assert.equal(top.parent, "cluster:wide");
  });
  it("folds the slices of an operator into one per cluster, with their sums", () => {
    const found = shown(sliced);
    const here = found.nodes.find((node) => node.id === "slices:count@narrow");
    assert.deepEqual(plain(here.members), ["count.0", "count.1"]);
    assert.deepEqual(plain(graph.lines(sliced, here, graph.figures(sliced, here))), ["2 slices · queue 5", "busy 50 % · waiting 0 %"]);
    const into = found.edges.find((one) => one.target === here.id);
    assert.equal(graph.rate(into), "40 rows/s");
    assert.equal(found.edges.length, 4);
  });
  it("unfolds them where it is asked to, and nowhere else", () => {
    const found = ids(shown(sliced, "slices:count@narrow"));
    assert.ok(found.includes("operator:count.0") && found.includes("operator:count.1"));
    assert.ok(found.includes("slices:count@wide"));
  });
  it("keeps a loop and a query that reads what it writes", () => {
    const loop = {
      clusters: { a: cluster },
      operators: { x: operator("a"), y: operator("a") },
      edges: [edge("x", "y", "xy"), edge("y", "x", "yx"), edge("x", "x", "own")],
    };
    assert.equal(shown(loop).edges.length, 3);
    assert.equal(shown(loop, "cluster:a").edges.length, 0, "what flows inside a folded cluster is not drawn");
  });
  it("begins with folded clusters where there are three hundred operators", () => {
    const large = { clusters: {}, operators: {}, edges: [] };
    for (let c = 0; c < 10; c++) {
      large.clusters["c" + c] = cluster;
      for (let o = 0; o < 30; o++) {
        large.operators[`o${c}.${o}x`] = operator("c" + c);
        large.edges.push(edge(o ? `o${c}.${o - 1}x` : c ? `o${c - 1}.29x` : "in", `o${c}.${o}x`, `d${c}-${o}`));
      }
    }
    assert.equal(shown(large).nodes.length, 11);
    assert.equal(shown(large).edges.length, 10);
    const one = shown(large, "cluster:c3");
    assert.equal(one.nodes.length, 41);
    assert.equal(one.edges.length, 10 + 29, "flows into and out of it go to the operators themselves");
    const turned = new Set();
    for (const c of [3, 5, 7]) graph.turn(large, turned, "cluster:c" + c);
    assert.deepEqual([...turned], ["cluster:c5", "cluster:c7"], "the one that has been open for longest folds again");
    const folded = shown(large).nodes.find((node) => node.id === "cluster:c3");
    assert.equal(graph.lines(large, folded, graph.figures(large, folded))[0], "30 operators · queue 150");
  });
  it("counts what is overloaded as such and says what is not running", () => {
    const map = { clusters: { a: cluster }, operators: { x: operator("a", { busy: 0.7, waiting: 0.5, status: "failed", idle: true }) }, edges: [] };
    const node = shown(map).nodes.find((one) => one.kind === "operator");
    const seen = graph.figures(map, node);
    assert.deepEqual([seen.over, seen.busy, +seen.waiting.toFixed(2)], [true, 0.7, 0.3]);
    assert.deepEqual(plain(graph.lines(map, node, seen)), ["failed", "busy 70 % · waiting 50 %"]);
  });
});
