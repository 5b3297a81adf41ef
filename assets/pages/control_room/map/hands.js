/* What stands on the map for eyes, fingers and keys: elements of the page over the lines that
   Cytoscape draws, and a menu of what can be done with each. Arrow keys walk, Enter or M opens the
   menu; dragging an operator into another cluster asks for the same as choosing it there. */
(function () {
  "use strict";
  const weir = (window.weir = window.weir || {});
  const STEPS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
  const LAST_PX = 1e6;
  const graph = () => weir.mapGraph;

  function make(name, attributes, parent, text) {
    const element = document.createElement(name);
    for (const key in attributes) element.setAttribute(key, attributes[key]);
    if (text != null) element.textContent = text;
    if (parent) parent.appendChild(element);
    return element;
  }

  /* -- the elements */

  function build(hold) {
    const layer = make("div", {
      class: "map-layer",
      role: "group",
      "aria-label": "Operators on clusters. Arrow keys walk from one to the next, Enter opens what can be done with it.",
    }, hold.element);
    hold.parts = { layer, nodes: {}, flows: {} };
    for (const node of inOrder(hold.shown.nodes)) hold.parts.nodes[node.id] = { node, ...buildNode(node, layer) };
    for (const edge of hold.shown.edges) {
      const box = make("div", { class: "map-flow", "data-flow": edge.id, "aria-hidden": "true" }, layer);
      const name = graph().flowName(edge);
      if (name) make("span", { class: "map-dataset" }, box, name);
      hold.parts.flows[edge.id] = { box, rate: make("span", { class: "map-rate" }, box) };
    }
    stand(hold);
    rove(hold, hold.focused);
  }

  /* A cluster, then what is in it: the order in which it is read aloud. */
  function inOrder(nodes) {
    const inside = (box) => nodes.filter((node) => node.parent === box.id);
    return nodes.filter((node) => !node.parent).flatMap((node) => [node, ...inside(node)]);
  }

  function buildNode(node, layer) {
    if (node.kind === "data") {
      const box = make("div", { class: "map-data", "data-node": node.id, title: `${node.name}: nothing here writes it` }, layer);
      return { box, said: make("span", {}, box, node.name) };
    }
    const box = make("button", {
      type: "button", class: `map-${node.kind === "box" ? "box" : "node"}`, tabindex: -1, "aria-haspopup": "menu",
      "data-kind": node.kind, "data-node": node.id, "data-name": node.name,
    }, layer);
    const name = make("span", { class: "map-name" }, box, node.name);
    if (node.kind === "box") return { box, name };
    const state = make("span", { class: "map-text" }, box);
    const shares = make("span", { class: "map-text" }, box);
    const bar = make("span", { class: "map-bar", "aria-hidden": "true" }, box);
    return { box, name, state, shares, busy: make("span", { class: "map-busy" }, bar), waiting: make("span", { class: "map-waiting" }, bar) };
  }

  /* Each where the layout has put it; the layer as a whole follows the view. */
  function stand(hold) {
    const at = (box, node) => {
      const [{ x, y }, w, h] = [node.position(), node.data("w"), node.data("h")];
      Object.assign(box.style, { left: `${x - w / 2}px`, top: `${y - h / 2}px`, width: `${w}px`, height: `${h}px` });
    };
    for (const id in hold.parts.nodes) at(hold.parts.nodes[id].box, hold.cy.getElementById(id));
    for (const id in hold.parts.flows) at(hold.parts.flows[id].box, hold.cy.getElementById("flow:" + id));
    hold.standing = at;
  }

  function follow(hold) {
    const { x, y } = hold.cy.pan();
    hold.parts.layer.style.transform = `translate(${x}px, ${y}px) scale(${hold.cy.zoom()})`;
  }

  /* New figures into what is there. */
  function update(hold, map) {
    for (const part of Object.values(hold.parts.nodes)) {
      const { node, box } = part;
      if (node.kind === "data") continue;
      if (node.kind === "box") {
        weir.setAttribute(box, "aria-label", `Cluster ${node.name}`);
        continue;
      }
      const seen = graph().figures(map, node);
      const [state, shares] = graph().lines(map, node, seen);
      weir.setText(part.state, state);
      weir.setText(part.shares, shares);
      weir.setAttribute(part.busy, "style", `width:${(seen.busy * 100).toFixed(0)}%`);
      weir.setAttribute(part.waiting, "style", `width:${(seen.waiting * 100).toFixed(0)}%`);
      weir.setAttribute(box, "data-status", seen.idle ? "idle" : seen.status);
      weir.setAttribute(box, "data-over", String(seen.over));
      weir.setAttribute(box, "data-moving", seen.moving);
      weir.setAttribute(box, "aria-label", `${node.name}${where(node)}: ${state}, ${shares}. ${ways(hold.shown, node)}`);
      weir.setAttribute(box, "title", `${node.name}: ${state}, ${shares} of the cluster's cores`);
    }
    for (const edge of hold.shown.edges) weir.setText(hold.parts.flows[edge.id].rate, graph().rate(edge));
  }

  const where = (node) => (node.cluster ? ` on ${node.cluster}` : "");
  const named = (id) => id.replace(/^[a-z]+:/, "");

  function ways(shown, node) {
    const list = (edges, end) => edges.map((edge) => named(edge[end])).join(", ");
    const before = shown.edges.filter((edge) => edge.target === node.id);
    const after = shown.edges.filter((edge) => edge.source === node.id);
    return [before.length ? `Reads from ${list(before, "source")}.` : "", after.length ? `Feeds ${list(after, "target")}.` : ""].join(" ").trim();
  }

  /* -- the keyboard */

  /* One of them is a stop of the Tab key, the others are reached from it. */
  function rove(hold, id) {
    const boxes = buttons(hold);
    const next = boxes.find((box) => box.dataset.node === id) || boxes.find((box) => box.dataset.kind !== "box") || boxes[0];
    for (const box of boxes) box.tabIndex = box === next ? 0 : -1;
    return next;
  }

  const buttons = (hold) => Object.values(hold.parts.nodes).map((part) => part.box).filter((box) => box.tagName === "BUTTON");

  function focus(hold, id) {
    const box = rove(hold, id);
    if (box) box.focus({ preventScroll: true });
  }

  /* The nearest one in a direction: what lies aside counts as farther, a box around others last. */
  function neighbour(hold, id, [dx, dy]) {
    const from = hold.cy.getElementById(id).position();
    let [found, least] = [null, Infinity];
    for (const box of buttons(hold)) {
      const to = hold.cy.getElementById(box.dataset.node).position();
      const along = (to.x - from.x) * dx + (to.y - from.y) * dy;
      const aside = Math.abs((to.x - from.x) * dy) + Math.abs((to.y - from.y) * dx);
      const far = along + 2 * aside + (box.dataset.kind === "box" ? LAST_PX : 0);
      if (along > 1 && far < least) [found, least] = [box, far];
    }
    return found;
  }

  function keys(hold, event) {
    const box = event.target.closest("button[data-node]");
    if (!box || event.ctrlKey || event.metaKey || event.altKey) return;
    if (STEPS[event.key]) {
      const next = neighbour(hold, box.dataset.node, STEPS[event.key]);
      if (next) focus(hold, next.dataset.node);
    } else if (event.key === "m" || event.key === "M") openMenu(hold, box.dataset.node);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  /* What has the focus is in view. */
  function reveal(hold, id) {
    hold.focused = id;
    const box = hold.cy.getElementById(id).renderedBoundingBox({ includeOverlays: false });
    const shift = (low, high, room) => (low < 0 ? 8 - low : high > room ? room - 8 - high : 0);
    const by = { x: shift(box.x1, box.x2, hold.cy.width()), y: shift(box.y1, box.y2, hold.cy.height()) };
    if ((by.x || by.y) && box.w < hold.cy.width()) hold.cy.panBy(by);
  }

  /* -- what can be done */

  function ask(operator, target) {
    weir.send("pressed-move", { data: { operator, target, at: Date.now() } });
  }

  function choices(hold, node) {
    const { clusters, operators } = weir.map;
    const found = [];
    const href = node.kind === "box" || node.kind === "cluster" ? clusters[node.name].href
      : node.kind === "operator" ? operators[node.name].href : "";
    const turn = (key, text) => found.push({ text, act: () => hold.turn(key) });
    if (node.kind === "box") turn(node.id, "Fold");
    if (node.kind === "cluster" || node.kind === "slices") turn(node.id, "Unfold");
    if (node.kind === "operator" && node.of) turn(graph().slicesKey(node.of, node.cluster), `Fold the slices of ${node.of}`);
    const one = movable(node);
    for (const name in one ? clusters : {})
      if (clusters[name].takes && name !== node.cluster) found.push({ text: `Move to ${name}…`, act: () => ask(one, name) });
    if (href) found.push({ text: "Open its page", act: () => weir.go(href) });
    return found;
  }

  /* The one operator that a node stands for; slices are moved one at a time. */
  function movable(node) {
    const alone = (node.kind === "operator" || node.kind === "slices") && node.members.length === 1;
    const home = alone && weir.map.clusters[node.cluster];
    return home && home.takes ? node.members[0] : "";
  }

  function openMenu(hold, id) {
    closeMenu(hold);
    const { node } = hold.parts.nodes[id];
    const items = choices(hold, node);
    if (!items.length) return;
    const menu = make("div", { class: "map-menu", role: "menu", "aria-label": node.name, "data-of": id }, hold.element);
    make("strong", { "aria-hidden": "true" }, menu, node.name);
    for (const { text, act } of items) {
      const item = make("button", { type: "button", role: "menuitem" }, menu, text);
      item.addEventListener("click", () => {
        closeMenu(hold);
        focus(hold, id); // where the focus comes back to when a dialog closes
        act();
      });
    }
    const box = hold.cy.getElementById(id).renderedBoundingBox({ includeOverlays: false });
    const top = node.kind === "box" ? box.y1 + 28 : box.y2 + 4;
    menu.style.left = `${Math.max(4, Math.min(box.x1, hold.cy.width() - menu.offsetWidth - 4))}px`;
    menu.style.top = `${Math.max(4, Math.min(top, hold.cy.height() - menu.offsetHeight - 4))}px`;
    menu.addEventListener("keydown", (event) => menuKeys(hold, id, menu, event));
    menu.addEventListener("focusout", (event) => {
      if (!menu.contains(event.relatedTarget)) closeMenu(hold);
    });
    hold.menu = menu;
    menu.querySelector("button").focus({ preventScroll: true });
  }

  function menuKeys(hold, id, menu, event) {
    const items = [...menu.querySelectorAll("button")];
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === "Escape") {
      closeMenu(hold);
      focus(hold, id);
    } else if (step) items[(items.indexOf(document.activeElement) + step + items.length) % items.length].focus();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  function closeMenu(hold) {
    const { menu } = hold;
    hold.menu = null;
    if (menu) menu.remove();
  }

  /* -- dragging */

  /* The cluster at a place on the map. */
  function clusterAt(hold, { x, y }) {
    const found = hold.shown.nodes.find((node) => {
      if (node.kind !== "box" && node.kind !== "cluster") return false;
      const at = hold.cy.getElementById(node.id);
      const middle = at.position();
      return Math.abs(x - middle.x) <= at.data("w") / 2 && Math.abs(y - middle.y) <= at.data("h") / 2;
    });
    return found && weir.map.clusters[found.name].takes ? found : null;
  }

  function drag(hold, at) {
    const part = hold.parts.nodes[at.id()];
    hold.standing(part.box, at);
    part.box.classList.add("is-dragged");
    at.connectedEdges().addClass("loose");
    const over = clusterAt(hold, at.position());
    hold.cy.nodes(".over").removeClass("over");
    if (over && over.name !== part.node.cluster) hold.cy.getElementById(over.id).addClass("over");
  }

  function drop(hold, at) {
    const part = hold.parts.nodes[at.id()];
    if (!part || !part.box.classList.contains("is-dragged")) return;
    const over = clusterAt(hold, at.position());
    hold.cy.nodes(".over").removeClass("over");
    at.position({ x: at.data("x"), y: at.data("y") });
    hold.standing(part.box, at);
    part.box.classList.remove("is-dragged");
    at.connectedEdges().removeClass("loose");
    const one = movable(part.node);
    if (one && over && over.name !== part.node.cluster) {
      focus(hold, part.node.id);
      ask(one, over.name);
    }
  }

  weir.mapHands = { build, update, follow, keys, reveal, focus, openMenu, closeMenu, movable, drag, drop, make };
})();
