/* Texts that age by themselves: how long ago, how long still, when, and whether a cluster's
   figures are fresh. */
(function () {
  "use strict";
  const weir = (window.weir = window.weir || {});
  const STALE_AFTER_MS = 6000; // where the server has not said otherwise

  function words(ms) {
    const s = Math.max(0, Math.round(ms / 1000));
    if (s < 120) return s + " s";
    return s < 7200 ? Math.round(s / 60) + " min" : Math.round(s / 3600) + " h";
  }

  /* Counts down second by second, also over minutes. */
  function left(ms) {
    const s = Math.max(0, Math.round(ms / 1000));
    if (s < 60 || s >= 3600) return words(ms);
    return `${Math.floor(s / 60)}:${String(s % 60).padStart(2, "0")} min`;
  }

  /* The day too, unless it is today. */
  const days = new Intl.DateTimeFormat([], { day: "numeric", month: "short", year: "numeric" });
  function stamp(ms, now) {
    const day = days.format(ms);
    return (day === days.format(now) ? "" : day + ", ") + weir.clock(ms, true);
  }

  const TICKING = {
    since: (at, now) => words(now - at),
    until: (at, now) => left(at - now),
    time: (at) => weir.clock(at, true),
    stamp,
  };

  /* All of them, as of now; `seen` says when each cluster reported last. */
  function tick(now, seen, staleAfter) {
    for (const name in TICKING)
      for (const element of document.querySelectorAll(`[data-${name}]`))
        weir.setText(element, TICKING[name](Number(element.dataset[name]), now));
    for (const element of document.querySelectorAll("[data-age-of]")) {
      const name = element.dataset.ageOf;
      const age = now - (seen[name] || 0);
      const stale = age > (staleAfter[name] || STALE_AFTER_MS);
      weir.setText(element, stale ? "no data for " + words(age) : weir.moment == null ? "live" : "recorded");
      weir.setAttribute(element, "data-state", stale ? "bad" : "ok");
      const panel = element.closest("[data-cluster]");
      if (panel) panel.classList.toggle("is-stale", stale);
    }
  }

  weir.texts = { tick, words };
})();
