/* Panels that are sent whole when they change, and what can be pressed in them. They are put on
   the page here, not by Dash: of its components each looks at every change of any other, so that
   a panel of some hundred of them takes a second of a core each time it comes. */
(function () {
  "use strict";
  const weir = (window.weir = window.weir || {});
  const NAMES = { className: "class", htmlFor: "for" };
  const KEYS = ["recommendation", "underWay", "outcome"]; // one of these apart is another thing
  const FILLED = ["since", "until", "time", "stamp", "live"]; // their text comes from the feed
  const trees = {}; // region -> what it shows

  /* -- from what the server sends to elements */

  function build(tree, parent) {
    if (tree == null || typeof tree === "boolean") return;
    if (Array.isArray(tree)) for (const part of tree) build(part, parent);
    else if (typeof tree !== "object") parent.append(String(tree));
    else {
      const element = document.createElement(tree.type === "Link" ? "a" : tree.type.toLowerCase());
      for (const name in tree.props) attribute(element, name, tree.props[name]);
      if (tree.type === "Link") element.dataset.go = "";
      build(tree.props.children, element);
      parent.append(element);
    }
  }

  function attribute(element, name, value) {
    if (name === "children" || value == null || value === false) return;
    if (name === "id" && typeof value === "object") element.dataset.press = JSON.stringify(value);
    else if (name === "style") Object.assign(element.style, value);
    else element.setAttribute(NAMES[name] || name, value === true ? "" : value);
  }

  /* -- and onto the page: what is the same stays, with its focus */

  function same(old, next) {
    if (old.nodeName !== next.nodeName) return false;
    return !old.dataset || KEYS.every((key) => old.dataset[key] === next.dataset[key]);
  }

  function bring(from, to) {
    const old = [...from.childNodes];
    [...to.childNodes].forEach((next, i) => {
      if (!old[i]) from.append(next);
      else if (!same(old[i], next)) old[i].replaceWith(next);
      else if (next.nodeType === Node.TEXT_NODE) {
        if (old[i].data !== next.data) old[i].data = next.data;
      } else alike(old[i], next);
    });
    old.slice(to.childNodes.length).forEach((node) => node.remove());
  }

  function alike(old, next) {
    const filled = FILLED.some((name) => name in next.dataset);
    const kept = ["data-limited"]; // what the page itself has set
    if ("limited" in old.dataset) kept.push("disabled", "title");
    if ("live" in next.dataset) kept.push("data-state");
    for (const { name } of [...old.attributes])
      if (!next.hasAttribute(name) && !kept.includes(name)) old.removeAttribute(name);
    for (const { name, value } of next.attributes)
      if (old.getAttribute(name) !== value && !kept.includes(name)) old.setAttribute(name, value);
    if (!filled) bring(old, next);
  }

  function fill(element, tree) {
    const next = document.createElement("div");
    build(tree, next);
    bring(element, next);
  }

  weir.takeRegions = function (found) {
    for (const region in found || {}) {
      trees[region] = found[region];
      const element = document.getElementById(region);
      if (element) fill(element, found[region]);
    }
  };

  /* A page that has just been drawn has them empty. */
  new MutationObserver(() => {
    for (const element of document.querySelectorAll("[data-region]:empty"))
      if (trees[element.id]) fill(element, trees[element.id]);
  }).observe(document.documentElement, { childList: true, subtree: true });

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
      window.dash_clientside.set_props(`pressed-${pressed.type}`, { data: { ...pressed, at: Date.now() } });
    } else if (!(event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey)) {
      event.preventDefault();
      weir.go(target.getAttribute("href"));
    }
  });
})();
