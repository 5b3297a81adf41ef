/* The map of operators on clusters. The server gives positions for a wide and a
   tall shape; here the one that fits is drawn. While the shape stays, only texts,
   bars and widths change, so a link keeps its focus. */
(function () {
  "use strict";
  const weir = (window.weir = window.weir || {});
  const EDGE = 6;
  let drawn = null; // {element, key, parts}

  weir.map = null;

  /* Operators and edges with new figures; the shape is as it was. */
  weir.changeMap = function (changes) {
    if (!weir.map) return;
    Object.assign(weir.map.operators, changes.operators);
    const fresh = new Map(changes.edges.map((edge) => [edge.id, edge]));
    weir.map.edges = weir.map.edges.map((edge) => fresh.get(edge.id) || edge);
  };

  weir.drawMap = function (changes) {
    const element = document.querySelector("[data-map]");
    if (!element || !weir.map) return;
    if (changes && drawn && drawn.element === element && element.firstChild) {
      update(drawn.parts, changes);
      return;
    }
    const layout = element.clientWidth < 620 ? weir.map.tall : weir.map.wide;
    const key = JSON.stringify([layout, weir.map.edges.map((e) => e.id)]);
    if (!drawn || drawn.element !== element || drawn.key !== key || !element.firstChild)
      drawn = { element, key, parts: build(element, layout) };
    update(drawn.parts, weir.map);
  };

  function build(element, layout) {
    const [width, height] = layout.size;
    const parts = { operators: {}, edges: {} };
    const svg = weir.svg("svg", {
      viewBox: `${-EDGE} ${-EDGE} ${width + 2 * EDGE} ${height + 2 * EDGE}`,
      role: "group",
      "aria-label": "Operators on clusters and the rows that flow between them",
    });
    svg.style.maxWidth = Math.round((width + 2 * EDGE) * 1.15) + "px";
    for (const name in layout.boxes) {
      const [x, y, w, h] = layout.boxes[name];
      const box = weir.svg("g", { class: "map-cluster" }, svg);
      weir.svg("rect", { x, y, width: w, height: h, rx: 12 }, box);
      const link = weir.svg("a", { href: weir.map.clusters[name].href }, box);
      weir.svg("text", { x: x + 16, y: y + 22 }, link, name);
    }
    for (const edge of weir.map.edges) buildEdge(edge, layout, svg, parts);
    for (const name in layout.nodes) {
      const [x, y, w, h] = layout.nodes[name];
      const operator = weir.map.operators[name];
      if (!operator) {
        const node = weir.svg("g", { class: "map-source" }, svg);
        weir.svg("rect", { x, y, width: w, height: h, rx: h / 2 }, node);
        weir.svg("text", { x: x + w / 2, y: y + h / 2 + 4 }, node, weir.cut(name, 13));
        weir.svg("title", {}, node, `Data set ${name}, written by nobody here`);
      } else parts.operators[name] = buildOperator(name, operator, x, y, w, h, svg);
    }
    element.replaceChildren(svg);
    return parts;
  }

  function buildOperator(name, operator, x, y, w, h, svg) {
    const link = weir.svg("a", { href: operator.href, class: "map-operator" }, svg);
    weir.svg("rect", { x, y, width: w, height: h, rx: 8, class: "map-node" }, link);
    weir.svg("text", { x: x + 12, y: y + 22, class: "map-name" }, link, weir.cut(name, 20));
    const load = weir.svg("text", { x: x + 12, y: y + 42, class: "map-text" }, link);
    const queue = weir.svg("text", { x: x + w - 12, y: y + 42, class: "map-text end" }, link);
    weir.svg("rect", { x: x + 12, y: y + h - 18, width: w - 24, height: 5, rx: 2.5, class: "map-track" }, link);
    const bar = weir.svg("rect", { x: x + 12, y: y + h - 18, width: 0, height: 5, rx: 2.5, class: "map-bar" }, link);
    return { link, load, queue, bar, room: w - 24, title: weir.svg("title", {}, link) };
  }

  function buildEdge(edge, layout, svg, parts) {
    const from = layout.nodes[edge.source];
    const to = layout.nodes[edge.target];
    if (!from || !to) return;
    const group = weir.svg("g", { class: "map-edge" }, svg);
    let d, tip, middle;
    if (layout.down) {
      const a = [from[0] + from[2] / 2, from[1] + from[3]];
      const b = [to[0] + to[2] / 2, to[1]];
      const bend = (b[1] - a[1]) / 2;
      d = `M${a}C${a[0]},${a[1] + bend} ${b[0]},${b[1] - bend} ${b[0]},${b[1] - 7}`;
      tip = `M${b}l-4.5,-8h9z`;
      middle = [(a[0] + b[0]) / 2 + 10, (a[1] + b[1]) / 2];
    } else {
      const a = [from[0] + from[2], from[1] + from[3] / 2];
      const b = [to[0], to[1] + to[3] / 2];
      const bend = Math.max(40, (b[0] - a[0]) / 2);
      d = `M${a}C${a[0] + bend},${a[1]} ${b[0] - bend},${b[1]} ${b[0] - 7},${b[1]}`;
      tip = `M${b}l-8,-4.5v9z`;
      middle = [(a[0] + b[0]) / 2, (a[1] + b[1]) / 2];
    }
    const line = weir.svg("path", { d, class: "map-line" }, group);
    weir.svg("path", { d: tip, class: "map-tip" }, group);
    const side = layout.down ? "start" : "middle";
    const above = layout.down ? 0 : -8;
    weir.svg("text", { x: middle[0], y: middle[1] + above, "text-anchor": side, class: "map-dataset" }, group, edge.source === edge.dataset ? "" : edge.dataset);
    const rate = weir.svg("text", { x: middle[0], y: middle[1] + (layout.down ? 13 : 17), "text-anchor": side, class: "map-rate" }, group);
    parts.edges[edge.id] = { line, rate };
  }

  function update(parts, { operators, edges }) {
    for (const name in operators) {
      const operator = operators[name];
      const part = parts.operators[name];
      if (!part) continue;
      part.link.dataset.status = operator.idle ? "idle" : operator.status;
      part.link.dataset.over = operator.over;
      part.link.dataset.moving = operator.moving;
      const words = operator.moving
        ? "moving to " + weir.cut(operator.moving, 12)
        : operator.status === "running" ? operator.load : operator.status;
      weir.setText(part.load, words);
      weir.setText(part.queue, operator.moving ? "" : operator.queue);
      const doing = operator.moving ? `on its way to ${operator.moving}` : operator.status;
      weir.setText(part.title, `${name}: ${doing}, load ${operator.load}, ${operator.queue} rows`);
      part.bar.setAttribute("width", (part.room * operator.fill).toFixed(1));
    }
    for (const edge of edges) {
      const part = parts.edges[edge.id];
      if (!part) continue;
      weir.setText(part.rate, edge.text);
      part.line.setAttribute("stroke-width", (1.2 + Math.log10(1 + edge.rate) * 0.75).toFixed(2));
    }
  }

  /* Links that are drawn here navigate like all others, without loading the page anew. */
  document.addEventListener("click", (event) => {
    const link = event.target.closest && event.target.closest(".map a, .overview a");
    if (!link || event.metaKey || event.ctrlKey || event.shiftKey || event.button) return;
    event.preventDefault();
    weir.send("url", { pathname: link.getAttribute("href") });
  });
  window.addEventListener("resize", () => weir.drawMap());
})();
