/* Where everything on the map stands, and how lines run. Cytoscape keeps the graph and draws its
   lines; KLay, the layered layout in its bundle, places boxes and what is in them and leads every
   line around the rest. What flows is a node on its line, so that its words have room of their own.
   Cytoscape takes only the positions from KLay, and those as middles: corners, sizes and bends are
   read here from what KLay left with each element. */
(function () {
  "use strict";
  const weir = (window.weir = window.weir || {});
  const NODE = [184, 84];
  const DATA = [96, 34];
  const EMPTY = [112, 6]; // a cluster without operators, inside its padding
  const LETTER_PX = 6.4;
  const LINE_PX = 17;
  const PADDING = 26; // of a box, with room for its name

  const SPACE = { RIGHT: [24, 22], DOWN: [22, 16] }; // between layers, and between what stands beside
  const layout = (direction) => ({
    name: "klay",
    fit: false,
    animate: false,
    klay: {
      direction,
      layoutHierarchy: true,
      edgeRouting: "ORTHOGONAL",
      feedbackEdges: true, // a line that goes back is led around
      nodePlacement: "BRANDES_KOEPF",
      fixedAlignment: "BALANCED",
      separateConnectedComponents: true,
      spacing: SPACE[direction][0],
      inLayerSpacingFactor: SPACE[direction][1] / SPACE[direction][0],
      borderSpacing: 8,
      randomizationSeed: 1,
    },
  });

  function size(node) {
    if (node.kind === "data") return [Math.max(DATA[0], node.name.length * LETTER_PX + 28), DATA[1]];
    return node.kind === "box" ? EMPTY : NODE;
  }

  function flowSize(words) {
    const longest = Math.max(...words.map((word) => word.length));
    return [longest * LETTER_PX + 12, words.length * LINE_PX];
  }

  const leaf = (id, kind, [w, h], parent) => ({ data: { id, kind, w, h, ...(parent ? { parent } : {}) } });

  /* The elements of Cytoscape: each edge is two, with what flows between them. */
  function elements({ nodes, edges }) {
    const parents = new Map(nodes.map((node) => [node.id, node.parent]));
    const found = nodes.map((node) => leaf(node.id, node.kind, size(node), node.parent));
    for (const edge of edges) {
      const flow = "flow:" + edge.id;
      const [from, to] = [parents.get(edge.source), parents.get(edge.target)];
      // Room for a rate that grows, so that figures never move anything.
      const words = [weir.mapGraph.flowName(edge), "00,000 rows/s"].filter(Boolean);
      found.push(leaf(flow, "flow", flowSize(words), from === to ? from : null));
      found.push({ data: { id: "from:" + edge.id, source: edge.source, target: flow, kind: "from", thick: 1 } });
      found.push({ data: { id: "to:" + edge.id, source: flow, target: edge.target, kind: "to", thick: 1 } });
    }
    return found;
  }

  /* Lay all of it out anew; afterwards nothing is inside anything, so that a box keeps its place
     while an operator is dragged out of it. */
  function place(cy, graph, direction) {
    cy.elements().remove();
    cy.add(elements(graph));
    cy.layout(layout(direction)).run();
    const found = cy.nodes().map((node) => ({ node, ...corner(node) }));
    const routes = cy.edges().map((edge) => ({ edge, points: route(edge) }));
    cy.batch(() => {
      cy.nodes().move({ parent: null });
      for (const { node, x, y, w, h } of found) {
        const now = cy.getElementById(node.id());
        now.data({ x: x + w / 2, y: y + h / 2, w, h, placed: true });
        now.position({ x: x + w / 2, y: y + h / 2 });
      }
      for (const { edge, points } of routes) lead(cy.getElementById(edge.id()), points);
    });
  }

  const inKlay = (element) => element.scratch("klay");

  /* The upper left of a node in the whole map: KLay counts from the box around it. */
  function corner(node) {
    const own = inKlay(node);
    const at = { x: own.x, y: own.y, w: own.width, h: own.height };
    const around = node.parent();
    if (around.empty()) return at;
    const box = corner(around);
    return { ...at, x: at.x + box.x + PADDING, y: at.y + box.y + PADDING };
  }

  function route(edge) {
    const { sourcePoint, bendPoints, targetPoint } = inKlay(edge);
    const around = edge.source().parent();
    const box = around.empty() ? { x: 0, y: 0 } : corner(around);
    const inset = around.empty() ? 0 : PADDING;
    return [sourcePoint, ...(bendPoints || []), targetPoint].map(({ x, y }) => ({
      x: x + box.x + inset,
      y: y + box.y + inset,
    }));
  }

  /* Cytoscape counts bends along and across the line between the middles of both ends. */
  function lead(edge, points) {
    const [from, to] = [edge.source().position(), edge.target().position()];
    const [dx, dy] = [to.x - from.x, to.y - from.y];
    const length = Math.hypot(dx, dy) || 1;
    const bends = points.slice(1, -1);
    const along = bends.map((p) => ((p.x - from.x) * dx + (p.y - from.y) * dy) / length ** 2);
    const across = bends.map((p) => ((p.y - from.y) * dx - (p.x - from.x) * dy) / length);
    const [first, last] = [points[0], points[points.length - 1]];
    edge.data("points", points);
    edge.style({
      "curve-style": bends.length ? "segments" : "straight",
      ...(bends.length ? { "segment-weights": along.join(" "), "segment-distances": across.join(" ") } : {}),
      "source-endpoint": `${first.x - from.x}px ${first.y - from.y}px`,
      "target-endpoint": `${last.x - to.x}px ${last.y - to.y}px`,
    });
  }

  /* The words are elements of the page over it; what is left here are boxes and lines. */
  function style() {
    const colour = weir.colour;
    return [
      { selector: "node", style: {
        shape: "round-rectangle", width: "data(w)", height: "data(h)", padding: 0,
        "background-opacity": 0, "border-width": 0, "overlay-opacity": 0,
      } },
      { selector: 'node[kind = "box"]', style: {
        "background-color": colour("raised"), "background-opacity": 1,
        "border-color": colour("edge-strong"), "border-width": 1, padding: PADDING,
        "z-index-compare": "manual", "z-index": 0, events: "yes",
      } },
      { selector: 'node[kind = "box"][?placed]', style: { padding: 0 } },
      { selector: 'node[kind = "box"].over', style: { "border-color": colour("accent"), "border-width": 2.5 } },
      { selector: 'node[kind = "flow"]', style: { events: "no" } },
      { selector: "edge", style: {
        "line-color": colour("series-1"), "line-opacity": 0.75, width: "data(thick)",
        "edge-distances": "node-position", "overlay-opacity": 0, events: "no",
        "z-index-compare": "manual", "z-index": 1,
      } },
      { selector: "edge.loose", style: { opacity: 0.15 } },
      { selector: 'edge[kind = "to"]', style: {
        "target-arrow-shape": "triangle", "target-arrow-color": colour("series-1"), "arrow-scale": 0.9,
      } },
    ];
  }

  weir.mapLook = { place, style };
})();
