/* Figures by key: where each stands on the page, and how a new one gets there. */
(function () {
  "use strict";
  const weir = (window.weir = window.weir || {});
  let places = null; // key -> where that figure stands; null: elements have come or gone

  /* Once over the page: to look for every key by itself takes seconds where there are many. */
  function placesNow() {
    if (places) return places;
    places = new Map();
    const at = (key) => places.get(key) || places.set(key, { texts: [], bars: [] }).get(key);
    for (const element of document.querySelectorAll("[data-live]")) at(element.dataset.live).texts.push(element);
    for (const bar of document.querySelectorAll("[data-bar]")) at(bar.dataset.bar).bars.push(bar);
    return places;
  }

  /* A figure is its text, its mood and how full its bar is. */
  function show(found) {
    const known = placesNow();
    for (const key in found) {
      const place = known.get(key);
      if (!place) continue;
      const [text, mood, fill] = found[key];
      for (const element of place.texts) {
        if (element.dataset.sets && element.textContent !== text) follow(element, Number(text));
        if (element.dataset.keep !== "text") weir.setText(element, text);
        weir.setAttribute(element, "data-state", mood || "");
      }
      if (fill != null) for (const bar of place.bars) bar.style.width = (fill * 100).toFixed(1) + "%";
    }
    weir.filterOverview();
  }

  /* A control that somebody else has set; not while a person is about to set it here. */
  function follow(element, value) {
    if (!element.parentElement.contains(document.activeElement))
      weir.send(JSON.parse(element.dataset.sets), { value });
  }

  /* Those that have just been drawn without their text. */
  function fill(known) {
    const empty = {};
    for (const element of document.querySelectorAll("[data-live]:empty")) {
      const figure = known[element.dataset.live];
      if (figure && figure[0]) empty[element.dataset.live] = figure;
    }
    if (Object.keys(empty).length) show(empty);
  }

  function forget() {
    places = null;
  }

  weir.figures = { fill, forget, show };
})();
