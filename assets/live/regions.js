/* Panels that are sent whole when they change, and what can be pressed in them. They are put on
   the page here, not by Dash: of its components each looks at every change of any other, so that
   a panel of some hundred of them takes a second of a core each time it comes. What comes is
   compared with what came before, and only what differs is touched. */
(function () {
  "use strict";
  const weir = (window.weir = window.weir || {});
  const NAMES = { className: "class", htmlFor: "for" };
  const KEYS = ["data-recommendation", "data-under-way", "data-outcome"]; // one apart is another thing
  const FILLED = ["data-since", "data-until", "data-time", "data-stamp", "data-live"]; // by the feed
  const trees = {}; // region -> what it shows
  const shown = new WeakMap(); // element -> the trees that its children were made of
  const grown = new WeakMap(); // element -> the text that its children were made of

  /* -- from what the server sends to elements */

  /* A tree is a text, {type, props}, or a list of trees; what is nothing is left out. */
  function flat(tree) {
    if (tree == null || typeof tree === "boolean") return [];
    return Array.isArray(tree) ? tree.flatMap(flat) : [tree];
  }

  function make(tree) {
    if (typeof tree !== "object") return document.createTextNode(String(tree));
    const element = document.createElement(tree.type === "Link" ? "a" : tree.type.toLowerCase());
    for (const name in tree.props) attribute(element, name, tree.props[name]);
    if (tree.type === "Link") element.dataset.go = "";
    element.append(...flat(tree.props.children).map(make));
    return element;
  }

  function attribute(element, name, value) {
    if (name === "children") return;
    const none = value == null || value === false;
    if (name === "id" && value && typeof value === "object") element.dataset.press = JSON.stringify(value);
    else if (name === "style") for (const key in value) styled(element.style, key, value[key]);
    else if (none) element.removeAttribute(NAMES[name] || name);
    else element.setAttribute(NAMES[name] || name, value === true ? "" : value);
  }

  /* Names of the style sheet's own begin with two dashes, all others are as scripts write them. */
  function styled(style, key, value) {
    if (key.startsWith("--")) style.setProperty(key, value);
    else style[key] = value;
  }

  /* -- and onto the page: what is the same stays, with its focus and what the page itself set */

  function alike(a, b) {
    if (a === b) return true;
    if (typeof a !== "object" || typeof b !== "object" || !a || !b) return false;
    if (Array.isArray(a) !== Array.isArray(b)) return false;
    const names = Object.keys(a);
    return names.length === Object.keys(b).length && names.every((name) => alike(a[name], b[name]));
  }

  /* What a tree stands for, where it stands for one thing among others like it. */
  function key(tree) {
    if (typeof tree !== "object") return "";
    const name = KEYS.find((name) => name in tree.props);
    return name ? name + tree.props[name] : "";
  }

  function bring(parent, before, next) {
    if (parent.childNodes.length !== before.length) return parent.replaceChildren(...next.map(make));
    const coming = new Set(next.map(key));
    const items = [];
    [...parent.childNodes].forEach((node, i) => {
      if (coming.has(key(before[i])) || !key(before[i])) items.push({ node, tree: before[i] });
      else node.remove();
    });
    next.forEach((tree, i) => {
      if (!items[i] || key(items[i].tree) !== key(tree)) return put(parent, items, tree, i);
      const { node, tree: old } = items[i];
      if (old === tree) return;
      if (typeof old !== typeof tree || old.type !== tree.type) node.replaceWith(make(tree));
      else if (typeof tree !== "object") node.data = String(tree);
      else change(node, old, tree);
    });
    for (const { node } of items.slice(next.length)) node.remove();
  }

  /* Something that is not where it was: from further down, or new. */
  function put(parent, items, tree, i) {
    const from = key(tree) ? items.findIndex((item, at) => at > i && key(item.tree) === key(tree)) : -1;
    const item = from < 0 ? { node: make(tree), tree } : items.splice(from, 1)[0];
    parent.insertBefore(item.node, items[i] ? items[i].node : null);
    items.splice(i, 0, item);
    change(item.node, item.tree, tree);
  }

  function change(element, old, next) {
    if (alike(old, next)) return;
    const own = "limited" in element.dataset ? ["disabled", "title"] : [];
    if ("data-live" in next.props) own.push("data-state");
    for (const name in { ...old.props, ...next.props })
      if (!own.includes(name) && !alike(old.props[name], next.props[name])) attribute(element, name, next.props[name]);
    if (!FILLED.some((name) => name in next.props))
      bring(element, flat(old.props.children), flat(next.props.children));
    else if (old.props["data-live"] !== next.props["data-live"]) element.replaceChildren();
  }

  function fill(element, tree) {
    const next = flat(tree);
    bring(element, shown.get(element) || [], next);
    shown.set(element, next);
  }

  weir.takeRegions = function (found) {
    for (const region in found || {}) {
      trees[region] = found[region];
      const element = document.getElementById(region);
      if (element) fill(element, found[region]);
    }
  };

  /* A page that has just been drawn has them empty. What never changes came with the page;
     drawn again, an element may stand for something else. */
  new MutationObserver(() => {
    for (const element of document.querySelectorAll("[data-region]:empty"))
      if (trees[element.id]) fill(element, trees[element.id]);
    for (const element of document.querySelectorAll("[data-tree]")) {
      if (grown.get(element) === element.dataset.tree) continue;
      grown.set(element, element.dataset.tree);
      element.replaceChildren(...flat(JSON.parse(element.dataset.tree)).map(make));
    }
  }).observe(document.documentElement, { childList: true, subtree: true, attributeFilter: ["data-tree"] });

  /* -- what is pressed */

  /* To another page without loading everything again, as the links of Dash do. */
  weir.go = function (href) {
    history.pushState({}, "", href);
    window.dispatchEvent(new CustomEvent("_dashprivate_pushstate"));
    window.scrollTo(0, 0);
  };

  document.addEventListener("click", (event) => {
    const target = event.target.closest && event.target.closest("[data-press], a[data-go]");
    if (!target || target.disabled) return;
    if ("press" in target.dataset) {
      const pressed = JSON.parse(target.dataset.press);
      weir.send(`pressed-${pressed.type}`, { data: { ...pressed, at: Date.now() } });
    } else if (!(event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey)) {
      event.preventDefault();
      weir.go(target.getAttribute("href"));
    }
  });
})();
