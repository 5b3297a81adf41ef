/* What components of libraries leave out: a table that scrolls is reached by keyboard, and a field
   that a library makes by itself has the name that its box gives (`data-names`). */
(function () {
  "use strict";

  const sized = new ResizeObserver((entries) => {
    for (const { target } of entries) {
      const box = target.closest(".table-box");
      if (!box) continue;
      if (box.scrollWidth > box.clientWidth || box.scrollHeight > box.clientHeight) box.tabIndex = 0;
      else box.removeAttribute("tabindex");
    }
  });

  const known = new WeakSet();
  new MutationObserver(() => {
    for (const box of document.querySelectorAll(".table-box"))
      for (const part of [box, box.firstElementChild]) {
        if (!part || known.has(part)) continue;
        known.add(part);
        sized.observe(part);
      }
    for (const box of document.querySelectorAll("[data-names]"))
      for (const input of box.querySelectorAll("input:not([aria-label])"))
        input.setAttribute("aria-label", box.dataset.names);
  }).observe(document.documentElement, { childList: true, subtree: true });
})();
