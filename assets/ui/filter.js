/* A field that shows only those of many things whose name has the letters typed into it: the
   children of `data-filtered`, within the nearest `data-filters` around both. */
(function () {
  "use strict";

  const name = (item) => (item.querySelector("th") || item).textContent.toLowerCase();

  document.addEventListener("input", ({ target }) => {
    const box = target.closest("[data-filter]") && target.closest("[data-filters]");
    if (!box) return;
    const letters = target.value.trim().toLowerCase();
    const items = [...box.querySelectorAll("[data-filtered] > *")];
    for (const item of items) item.hidden = !name(item).includes(letters);
    const shown = items.filter((item) => !item.hidden).length;
    window.weir.setText(box.querySelector("[data-filter-count]"), letters ? `${shown} of ${items.length}` : "");
  });
})();
