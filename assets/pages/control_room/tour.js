/* The guided first run: one step at a time. Where somebody stands, and that they have done with
   it, is kept in their browser. */
(function () {
  "use strict";
  const KEPT = "weir-tour";
  const OVER = "over";
  let at = "0"; // the step, or OVER
  try {
    at = localStorage.getItem(KEPT) || at;
  } catch (error) {
    /* storage may be forbidden; then it lasts as long as the page */
  }

  function keep(next) {
    at = String(next);
    try {
      localStorage.setItem(KEPT, at);
    } catch (error) {
      /* as above */
    }
    paint();
  }

  function paint() {
    const tour = document.getElementById("tour");
    const steps = tour ? [...tour.querySelectorAll("[data-tour-at]")] : [];
    if (!steps.length) return;
    tour.hidden = at === OVER;
    const now = Math.min(Math.max(Number(at) || 0, 0), steps.length - 1);
    steps.forEach((step, i) => (step.hidden = i !== now));
    tour.querySelector('[data-tour="back"]').disabled = now === 0;
    const last = now === steps.length - 1;
    const next = tour.querySelector('[data-tour="next"]');
    if (next.textContent !== (last ? "Done" : "Next")) next.textContent = last ? "Done" : "Next";
    tour.dataset.last = String(last);
    return { now, last, target: steps[now].dataset.tourAt };
  }

  function show(selector) {
    const target = document.querySelector(selector);
    if (!target) return;
    if (!target.matches("input, button, a[href], [tabindex]")) target.tabIndex = -1;
    target.focus({ preventScroll: true });
    if (target.scrollIntoView) target.scrollIntoView({ block: "center" });
  }

  document.addEventListener("click", (event) => {
    const button = event.target.closest && event.target.closest("[data-tour]");
    if (!button) return;
    const { now, last, target } = paint();
    const verb = button.dataset.tour;
    if (verb === "show") show(target);
    else if (verb === "back") keep(now - 1);
    else if (verb === "next" && !last) keep(now + 1);
    else {
      keep(OVER);
      show("#content"); // where reading goes on
    }
  });

  /* It may be drawn anew with the page, hidden as the server sends it. */
  new MutationObserver(() => {
    const tour = document.getElementById("tour");
    if (tour && tour.hidden && at !== OVER) paint();
  }).observe(document.documentElement, { childList: true, subtree: true });
})();
