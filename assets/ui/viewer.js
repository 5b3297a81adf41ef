/* Choices of the viewer that no server needs to know: theme and time shown. */
(function () {
  "use strict";
  const weir = (window.weir = window.weir || {});

  function remember(key, value) {
    try {
      localStorage.setItem(key, value);
    } catch (error) {
      /* storage may be forbidden; the choice then lasts as long as the page */
    }
  }

  function theme() {
    const root = document.documentElement;
    const next = root.getAttribute("data-mantine-color-scheme") === "dark" ? "light" : "dark";
    root.setAttribute("data-mantine-color-scheme", next);
    remember("mantine-color-scheme-value", next);
  }

  /* The page that is open; those of one cluster or operator lie below the control room. */
  weir.markNav = function () {
    const path = location.pathname;
    for (const link of document.querySelectorAll(".nav a")) {
      const target = link.getAttribute("href");
      const below =
        target === "/" ? /^\/(cluster|operator)\//.test(path) : path.startsWith(target + "/") ||
        (target === "/history" && path.startsWith("/replay/"));
      if (target === path) link.setAttribute("aria-current", "page");
      else if (below) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    }
  };

  function choose(minutes) {
    weir.windowMs = minutes * 60e3;
    remember("weir-window", minutes);
    mark();
    weir.drawCharts();
  }

  function mark() {
    for (const button of document.querySelectorAll("[data-window]"))
      button.setAttribute(
        "aria-pressed",
        String(Number(button.dataset.window) * 60e3 === weir.windowMs),
      );
  }

  try {
    weir.windowMs = (Number(localStorage.getItem("weir-window")) || 15) * 60e3;
  } catch (error) {
    weir.windowMs = 15 * 60e3;
  }

  document.addEventListener("click", (event) => {
    const target = event.target.closest ? event.target : document.body;
    if (target.closest("#theme")) theme();
    const button = target.closest("[data-window]");
    if (button) choose(Number(button.dataset.window));
  });
  new MutationObserver((_, observer) => {
    if (!document.querySelector("[data-window]")) return;
    observer.disconnect();
    mark();
  }).observe(document.documentElement, { childList: true, subtree: true });
})();
