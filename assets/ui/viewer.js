/* Choices of the viewer that no server needs to know: theme and time shown; and the link to what
   is shown, which carries them. */
(function () {
  "use strict";
  const weir = (window.weir = window.weir || {});
  const USUAL_MIN = 15;
  const COPIED_MS = 1800;

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
        target === "/" ? /^\/(cluster|operator|recommendation)\//.test(path) : path.startsWith(target + "/") ||
        (target === "/history" && path.startsWith("/replay/"));
      if (target === path) link.setAttribute("aria-current", "page");
      else if (below) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    }
    weir.showCurrent(document.querySelector(".nav"));
  };

  /* On a phone the pages scroll sideways: the one that is open is brought into view once. */
  weir.showCurrent = function (nav) {
    const link = nav && nav.querySelector("[aria-current]");
    if (!link || nav.shownCurrent === link || !nav.clientWidth) return;
    nav.shownCurrent = link;
    const from = nav.getBoundingClientRect();
    const at = link.getBoundingClientRect();
    nav.scrollLeft += at.left - from.left - (from.width - at.width) / 2;
  };

  function choose(minutes) {
    weir.windowMs = minutes * 60e3;
    remember("weir-window", minutes);
    weir.keepWindow();
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

  /* One part of the address, without loading anything; none where it is the usual. */
  weir.keepInAddress = function (name, value) {
    const parts = new URLSearchParams(location.search);
    if (value == null) parts.delete(name);
    else parts.set(name, value);
    const search = String(parts) && `?${parts}`;
    if (search !== location.search) history.replaceState(history.state, "", location.pathname + search);
  };

  /* The time shown is part of what a link shows; where a page has no charts it says nothing. */
  weir.keepWindow = function () {
    const minutes = weir.windowMs / 60e3;
    const said = minutes !== USUAL_MIN && Object.keys(weir.models || {}).length > 0;
    weir.keepInAddress("window", said ? minutes : null);
  };

  /* What the address says, else what was chosen last. */
  function chosen() {
    const said = Number(new URLSearchParams(location.search).get("window"));
    if ([2, 5, USUAL_MIN].includes(said)) return said;
    try {
      return Number(localStorage.getItem("weir-window")) || USUAL_MIN;
    } catch (error) {
      return USUAL_MIN;
    }
  }
  weir.windowMs = chosen() * 60e3;

  async function copy(button) {
    // In a replay the moment that was asked for, even while it is still on its way.
    if (weir.past && weir.past.run) weir.keepInAddress("at", Math.round(weir.past.at));
    try {
      await navigator.clipboard.writeText(location.href);
    } catch (error) {
      // Without https there is no clipboard: a field that is selected can still be copied.
      const field = document.body.appendChild(document.createElement("textarea"));
      field.value = location.href;
      field.select();
      document.execCommand("copy");
      field.remove();
      button.focus();
    }
    const copied = document.getElementById("copied");
    button.classList.add("is-done");
    weir.setText(copied, "The link is copied");
    setTimeout(() => {
      button.classList.remove("is-done");
      weir.setText(copied, "");
    }, COPIED_MS);
  }

  document.addEventListener("click", (event) => {
    const target = event.target.closest ? event.target : document.body;
    if (target.closest("#theme")) theme();
    const link = target.closest("#copy-link");
    if (link) copy(link);
    const button = target.closest("[data-window]");
    if (button) choose(Number(button.dataset.window));
  });
  new MutationObserver((_, observer) => {
    if (!document.querySelector("[data-window]")) return;
    observer.disconnect();
    mark();
  }).observe(document.documentElement, { childList: true, subtree: true });
})();
