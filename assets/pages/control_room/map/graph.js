/* What the map shows of all that is there: what a person has folded stands as one. Nothing here
   touches the page. An open cluster is a box around its operators, a folded one a node; slices of
   an operator are one node per cluster until they are unfolded. */
(function () {
  "use strict";
  const weir = (window.weir = window.weir || {});
  const FOLDED_ABOVE = 60; // operators: then clusters begin folded
  const MOST_NODES = 90; // that are laid out within a moment

  const clusterKey = (name) => "cluster:" + name;
  const slicesKey = (operator, cluster) => `slices:${operator}@${cluster}`;

  /* Whether that stands unfolded; `turned` are the keys that a person has turned over. */
  function isOpen(map, turned, key) {
    const large = Object.keys(map.operators).length > FOLDED_ABOVE;
    const byItself = key.startsWith("cluster:") && !large;
    return byItself !== turned.has(key);
  }

  /* Turn a key over. Of a large map so much is open as can be laid out at once: what has been open
     for longest folds again. */
  function turn(map, turned, key) {
    if (!turned.delete(key)) turned.add(key);
    const open = () => [...turned].filter((one) => one !== key && one.startsWith("cluster:") && isOpen(map, turned, one));
    while (visible(map, turned).nodes.length > MOST_NODES && open().length) turned.delete(open()[0]);
  }

  /* The nodes and edges to draw: {nodes: [{id, kind, parent, ...}], edges: [{id, source, ...}]}. */
  function visible(map, turned) {
    const nodes = new Map();
    const seen = new Map(); // operator -> the node that it is seen as
    for (const name in map.clusters) {
      const open = isOpen(map, turned, clusterKey(name));
      nodes.set(clusterKey(name), { id: clusterKey(name), kind: open ? "box" : "cluster", name, members: [] });
    }
    for (const [name, operator] of Object.entries(map.operators)) {
      const node = nodeOf(map, turned, name, operator);
      if (!nodes.has(node.id)) nodes.set(node.id, node);
      nodes.get(node.id).members.push(name);
      seen.set(name, node.id);
    }
    for (const edge of map.edges)
      if (!seen.has(edge.source)) {
        const id = "data:" + edge.source;
        if (!nodes.has(id)) nodes.set(id, { id, kind: "data", name: edge.source, members: [] });
        seen.set(edge.source, id);
      }
    return { nodes: [...nodes.values()], edges: flows(map, seen, nodes) };
  }

  function nodeOf(map, turned, name, operator) {
    const parent = clusterKey(operator.cluster);
    const home = operator.cluster in map.clusters;
    if (home && !isOpen(map, turned, parent)) return { id: parent };
    const node = { parent: home ? parent : null, cluster: operator.cluster, members: [] };
    const key = slicesKey(operator.of, operator.cluster);
    if (operator.of && !isOpen(map, turned, key))
      return { ...node, id: key, kind: "slices", name: operator.of };
    return { ...node, id: "operator:" + name, kind: "operator", name, of: operator.of };
  }

  /* Flows between the same two nodes are one edge; what flows inside a folded one is not drawn. */
  function flows(map, seen, nodes) {
    const found = new Map();
    for (const edge of map.edges) {
      const [source, target] = [seen.get(edge.source), seen.get(edge.target)];
      if (!target || (source === target && edge.source !== edge.target)) continue;
      if (source === target && nodes.get(source).kind !== "operator") continue;
      const folded = [source, target].some((id) => nodes.get(id).kind === "cluster");
      const id = folded ? `${source}>${target}` : `${source}>${target}>${edge.dataset}`;
      if (!found.has(id)) found.set(id, { id, source, target, datasets: new Set(), members: [] });
      found.get(id).datasets.add(edge.dataset);
      found.get(id).members.push(edge);
    }
    return [...found.values()].map((flow) => ({ ...flow, datasets: [...flow.datasets] }));
  }

  /* -- what they say */

  const percent = (share) => Math.round(share * 100) + " %";

  /* The shares of a node, of one operator or of all that are folded in it. */
  function figures(map, node) {
    const members = node.members.map((name) => map.operators[name]).filter(Boolean);
    const sum = (key) => members.reduce((total, one) => total + (one[key] || 0), 0);
    const queued = members.some((one) => one.queue != null);
    const odd = members.filter((one) => one.status !== "running");
    return {
      busy: Math.min(sum("busy"), 1),
      waiting: Math.min(sum("waiting"), Math.max(1 - sum("busy"), 0)),
      over: sum("busy") + sum("waiting") > 1,
      shares: `busy ${percent(sum("busy"))} · waiting ${percent(sum("waiting"))}`,
      queue: queued ? `queue ${weir.math.number(sum("queue"))}` : "",
      status: odd.length ? odd[0].status : "running",
      odd: odd.length,
      idle: members.length > 0 && members.every((one) => one.idle),
      moving: members.map((one) => one.moving).find(Boolean) || "",
    };
  }

  function counted(count, word) {
    return `${count} ${word}${count === 1 ? "" : "s"}`;
  }

  /* Two lines below the name: how it stands, and its shares. */
  function lines(map, node, seen) {
    if (node.kind === "data") return [];
    const many = node.members.length;
    const state = seen.moving ? `moving to ${seen.moving}`
      : seen.status === "running" ? seen.queue
      : many > 1 ? `${seen.odd} ${seen.status}` : seen.status;
    const what = node.kind === "cluster" ? counted(many, "operator")
      : node.kind === "slices" ? counted(many, "slice") : "";
    return [[what, state].filter(Boolean).join(" · ") || "no queue", seen.shares];
  }

  function rate(edge) {
    return weir.math.number(edge.members.reduce((total, one) => total + one.rate, 0)) + " rows/s";
  }

  /* What flows; beside a data set that nobody here writes its name stands already. */
  function flowName(edge) {
    if (edge.source.startsWith("data:")) return "";
    return edge.datasets.length > 1 ? counted(edge.datasets.length, "data set") : edge.datasets[0];
  }

  weir.mapGraph = { visible, turn, figures, lines, rate, flowName, counted, clusterKey, slicesKey };
})();
