/* The map of operators on clusters. It is laid out anew only when something comes, goes, moves or
   is folded; figures change in place, and what a person has panned, zoomed and unfolded stays. */
(function () {
  "use strict";
  const weir = (window.weir = window.weir || {});
  const GRAPH = "map-graph";
  const NARROW_PX = 620;
  const MOST_HIGH_PX = 620;
  const MARGIN_PX = 8;
  const LEAST_ZOOM = 0.6; // below that nobody can read it: it is larger than its place then
  const LEAST_ALL = 0.15;
  const MOST_ZOOM = 2.5;
  const turned = new Set(); // what the person has folded or unfolded
  let view = null; // {zoom, pan, direction} that the person has chosen
  let hold = null; // {cy, element, key, shown, parts, menu, focused}

  weir.map = null;

  /* Operators and edges with new figures; the shape is as it was. */
  weir.changeMap = function (changes) {
    if (!weir.map) return;
    Object.assign(weir.map.operators, changes.operators);
    const fresh = new Map(changes.edges.map((edge) => [edge.id, edge]));
    weir.map.edges = weir.map.edges.map((edge) => fresh.get(edge.id) || edge);
  };

  weir.drawMap = function () {
    const element = document.querySelector("[data-map]");
    const graph = document.getElementById(GRAPH);
    const cy = graph && graph._cyreg && graph._cyreg.cy;
    if (!element || !cy || !weir.map || !element.clientWidth) return;
    if (!hold || hold.cy !== cy || hold.element !== element) {
      const { menu = null, focused = "" } = hold || {};
      hold = Object.assign(take(cy, element), { menu, focused }); // the person is where they were
      setTimeout(weir.drawMap, 50); // Dash makes a graph twice when it comes: only the second stays
    }
    const direction = element.clientWidth < NARROW_PX ? "DOWN" : "RIGHT";
    hold.shown = weir.mapGraph.visible(weir.map, turned);
    const key = keyOf(hold.shown, direction);
    if (hold.key !== key) lay(key, direction);
    weir.mapHands.update(hold, weir.map);
    thicken();
    list();
  };

  function keyOf({ nodes, edges }, direction) {
    return JSON.stringify([
      direction,
      nodes.map((node) => [node.id, node.kind, node.parent, node.members]),
      edges.map((edge) => [edge.id, edge.datasets]),
      Object.values(weir.map.clusters).map((cluster) => cluster.takes),
    ]);
  }

  function lay(key, direction) {
    const { cy, element } = hold;
    const open = hold.menu ? hold.menu.dataset.of : "";
    const had = element.contains(document.activeElement) ? hold.focused : "";
    element.replaceChildren();
    hold.menu = null;
    weir.mapLook.place(cy, hold.shown, direction);
    weir.mapHands.build(hold);
    for (const node of hold.shown.nodes) if (!weir.mapHands.movable(node)) cy.getElementById(node.id).ungrabify();
    cy.nodes('[kind = "flow"]').ungrabify();
    hold.key = key;
    hold.direction = direction;
    fit();
    if (hold.parts.nodes[open]) weir.mapHands.openMenu(hold, open);
    else if (had) weir.mapHands.focus(hold, had);
  }

  /* -- the view */

  /* All of it if that can be read, else from where the data comes in; a view of one's own stays. */
  function fit(least = LEAST_ZOOM) {
    const { cy, element } = hold;
    const all = cy.elements().boundingBox({ includeLabels: false, includeOverlays: false });
    const room = element.clientWidth - 2 * MARGIN_PX;
    const high = hold.direction === "DOWN" ? Infinity : MOST_HIGH_PX - 2 * MARGIN_PX;
    const zoom = Math.max(Math.min(1, room / all.w, high / all.h), least);
    element.parentElement.style.height = `${Math.ceil(Math.min(all.h * zoom, high) + 2 * MARGIN_PX)}px`;
    cy.resize();
    const wide = all.w * zoom > room + 1 || all.h * zoom > high + 1;
    const coarse = matchMedia("(pointer: coarse)").matches;
    cy.userPanningEnabled(wide || !coarse); // else a finger scrolls the page
    cy.userZoomingEnabled(coarse);
    if (view && view.direction === hold.direction) cy.viewport(view);
    else {
      const from = (start, length, space) => MARGIN_PX - start * zoom + Math.max((space - length * zoom) / 2, 0);
      cy.viewport({ zoom, pan: { x: from(all.x1, all.w, room), y: from(all.y1, all.h, cy.height() - 2 * MARGIN_PX) } });
    }
    follow();
  }

  /* Lines and words move together; what is cut off at a side is shaded there. */
  function follow() {
    if (!hold.parts) return;
    weir.mapHands.follow(hold);
    const all = hold.cy.elements().renderedBoundingBox({ includeLabels: false, includeOverlays: false });
    weir.setAttribute(hold.element, "data-more", [all.x1 < -2 ? "left" : "", all.x2 > hold.cy.width() + 2 ? "right" : ""].join(" ").trim());
  }

  function chosen() {
    view = { zoom: hold.cy.zoom(), pan: { ...hold.cy.pan() }, direction: hold.direction };
  }

  function zoom(factor, at) {
    const { cy } = hold;
    const renderedPosition = at || { x: cy.width() / 2, y: cy.height() / 2 };
    cy.zoom({ level: Math.min(Math.max(cy.zoom() * factor, LEAST_ALL), MOST_ZOOM), renderedPosition });
    chosen();
  }

  function tools() {
    const bar = document.querySelector(".map-tools");
    const button = (text, label, act) => {
      const made = weir.mapHands.make("button", { type: "button", "aria-label": label, title: label }, bar, text);
      made.addEventListener("click", act);
    };
    bar.replaceChildren();
    button("−", "Zoom out", () => zoom(1 / 1.3));
    button("+", "Zoom in", () => zoom(1.3));
    button("All", "Show all of it", () => {
      view = null;
      fit(LEAST_ALL);
    });
  }

  /* -- what a graph that has just come is told once */

  function take(cy, element) {
    const made = { cy, element, turn };
    const mine = (act) => (event) => hold === made && act(event);
    cy.style(weir.mapLook.style());
    cy.minZoom(LEAST_ALL);
    cy.maxZoom(MOST_ZOOM);
    cy.on("viewport", mine(follow));
    cy.on("dragpan pinchzoom", mine(chosen));
    cy.on("tap", "node", mine((event) => made.parts.nodes[event.target.id()] && weir.mapHands.openMenu(made, event.target.id())));
    cy.on("drag", "node", mine((event) => weir.mapHands.drag(made, event.target)));
    cy.on("free", "node", mine((event) => weir.mapHands.drop(made, event.target)));
    cy.on("mouseover mouseout", "node", mine((event) => point(event)));
    element.addEventListener("keydown", mine((event) => weir.mapHands.keys(made, event)));
    element.addEventListener("focusin", mine((event) => {
      const box = event.target.closest("[data-node]");
      if (box) weir.mapHands.reveal(made, box.dataset.node);
    }));
    element.addEventListener("click", mine((event) => {
      const box = event.target.closest("button[data-node]");
      if (box) weir.mapHands.openMenu(made, box.dataset.node);
    }));
    // A wheel alone scrolls the page; with Ctrl, as of two fingers on a touchpad, it zooms.
    element.parentElement.addEventListener("wheel", mine((event) => {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      const { left, top } = element.getBoundingClientRect();
      zoom(Math.exp(-event.deltaY / 300), { x: event.clientX - left, y: event.clientY - top });
    }), { passive: false });
    document.querySelector(".map-flows").addEventListener("toggle", mine(list));
    tools();
    return made;
  }

  function point(event) {
    const over = event.type === "mouseover";
    const part = hold.parts.nodes[event.target.id()];
    if (part) part.box.classList.toggle("is-under", over);
    const grab = over && part && weir.mapHands.movable(part.node);
    hold.cy.container().style.cursor = grab ? "grab" : over && part && part.node.kind !== "data" ? "pointer" : "";
  }

  function turn(key) {
    const { node } = hold.parts.nodes[hold.focused];
    weir.mapGraph.turn(weir.map, turned, key);
    weir.drawMap();
    const heir = hold.shown.nodes.find(({ id, members }) => id === node.id || members.some((one) => node.members.includes(one)));
    weir.mapHands.focus(hold, heir ? heir.id : "");
  }

  /* -- with every report */

  function thicken() {
    hold.cy.batch(() => {
      for (const edge of hold.shown.edges) {
        const rate = edge.members.reduce((total, one) => total + one.rate, 0);
        const thick = Math.round((1.2 + Math.log10(1 + rate) * 0.6) * 4) / 4;
        for (const half of ["from:", "to:"]) {
          const line = hold.cy.getElementById(half + edge.id);
          if (line.data("thick") !== thick) line.data("thick", thick);
        }
      }
    });
  }

  /* The same in words, while somebody reads it. */
  function list() {
    const found = document.querySelector("[data-map-flows]");
    if (!found || !found.parentElement.open) return;
    const named = new Map(hold.shown.nodes.map((node) => [node.id, node.name + (node.cluster ? ` on ${node.cluster}` : "")]));
    const lines = hold.shown.edges.map(
      (edge) => `${named.get(edge.source)} → ${named.get(edge.target)}: ${edge.datasets.join(", ")}, ${weir.mapGraph.rate(edge)}`,
    );
    while (found.children.length > lines.length) found.lastChild.remove();
    lines.forEach((line, i) => weir.setText(found.children[i] || weir.mapHands.make("li", {}, found), line));
  }

  window.addEventListener("resize", () => weir.drawMap());
  new MutationObserver(() => {
    if (hold && hold.cy.container()) hold.cy.style(weir.mapLook.style());
  }).observe(document.documentElement, { attributeFilter: ["data-mantine-color-scheme"] });
})();
