/* What a person unfolded or folded stays so when the page is drawn again. */
(function () {
  "use strict";
  const turned = new Map(); // a fold -> open?
  const known = new WeakSet();

  /* The same fold in what is drawn next: by its words, and by what it stands in. */
  function key(fold) {
    const marks = [];
    for (let at = fold; at && at.id !== "content"; at = at.parentElement) {
      const { recommendation, outcome, cluster, workload, group } = at.dataset;
      marks.push(at.id || recommendation || outcome || cluster || workload || group || at.getAttribute("aria-label"));
    }
    const summary = fold.querySelector("summary");
    return [location.pathname, summary && summary.textContent, ...marks.filter(Boolean)].join("\n");
  }

  document.addEventListener(
    "toggle",
    ({ target }) => {
      if (known.has(target) && target.isConnected) turned.set(key(target), target.open);
    },
    true,
  );

  new MutationObserver(() => {
    for (const fold of document.querySelectorAll("#content details")) {
      if (known.has(fold)) continue;
      known.add(fold);
      const open = turned.get(key(fold));
      if (open !== undefined && fold.open !== open) fold.open = open;
    }
  }).observe(document.documentElement, { childList: true, subtree: true });
})();
