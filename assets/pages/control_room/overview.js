/* All clusters of a large control room, as tiles in one element. The tiles are built once;
   their figures follow the feed like those of the rest of the page. */
(function () {
  "use strict";
  const weir = (window.weir = window.weir || {});
  let drawn = null; // {element, tiles, clusters, count}
  let wanted = ""; // stays when the page is drawn again

  function make(name, attributes, parent) {
    const element = document.createElement(name);
    for (const key in attributes) element.setAttribute(key, attributes[key]);
    parent.appendChild(element);
    return element;
  }

  weir.overview = null;

  /* True if it was built anew: then its figures are missing. */
  weir.drawOverview = function () {
    const element = document.querySelector("[data-overview]");
    if (!element || !weir.overview) {
      drawn = null;
      return false;
    }
    if (drawn && drawn.element === element && drawn.clusters === weir.overview) return false;
    element.replaceChildren();
    const bar = make("div", { class: "overview-bar" }, element);
    const box = make("input", {
      type: "search",
      class: "overview-filter",
      placeholder: "Name or state, e.g. overloaded",
      "aria-label": "Show only clusters whose name or state has these letters",
    }, bar);
    box.value = wanted;
    box.addEventListener("input", () => {
      wanted = box.value;
      weir.filterOverview();
    });
    const count = make("span", { class: "quiet", role: "status" }, bar);
    const list = make("ul", { class: "overview-tiles" }, element);
    const tiles = weir.overview.map((cluster) => build(cluster, list));
    drawn = { element, tiles, clusters: weir.overview, count };
    return true;
  };

  function build({ name, href }, list) {
    const key = "tile/" + name;
    const item = make("li", {}, list);
    const link = make("a", { href, title: name, "data-go": "", "data-live": key, "data-keep": "text" }, item);
    make("strong", {}, link).textContent = name;
    make("span", { class: "live overview-load", "data-live": key + "/load" }, link);
    const bar = make("span", { class: "bar", "aria-hidden": "true" }, link);
    make("span", { "data-bar": key + "/load" }, bar);
    const word = make("span", { class: "live overview-word", "data-live": key }, link);
    make("span", { class: "live quiet", "data-live": key + "/queue" }, link);
    return { item, name: name.toLowerCase(), word };
  }

  /* A state may have changed: what is shown follows. */
  weir.filterOverview = function () {
    const letters = wanted.trim().toLowerCase();
    if (!drawn || (!letters && !drawn.letters)) return;
    drawn.letters = letters;
    let shown = 0;
    for (const { item, name, word } of drawn.tiles) {
      item.hidden = !(name.includes(letters) || word.textContent.includes(letters));
      if (!item.hidden) shown++;
    }
    weir.setText(drawn.count, letters ? `${shown} of ${drawn.tiles.length}` : "");
  };
})();
