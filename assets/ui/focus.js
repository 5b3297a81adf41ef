/* Whoever works by keyboard or screen reader stays where they were when what they stood on is
   drawn again: on the same control, or where that is gone, on the panel that held it. */
(function () {
  "use strict";
  const SAME = ["data-press", "href", "name", "aria-label"];
  let held = null; // what has the focus, and how to find it again

  function described(element) {
    const around = [];
    for (let at = element.parentElement; at && at.id !== "content"; at = at.parentElement)
      if (at.id) around.push(at.id);
    const marks = SAME.filter((name) => element.hasAttribute(name));
    return {
      element,
      around,
      path: location.pathname,
      id: element.id,
      tag: element.tagName,
      marks: marks.map((name) => [name, element.getAttribute(name)]),
      text: element.textContent,
    };
  }

  /* The same control in what is there now; without a mark of its own its words tell it. */
  function again(box) {
    const alike = (element) =>
      held.marks.length
        ? held.marks.every(([name, value]) => element.getAttribute(name) === value)
        : element.textContent === held.text;
    return [...box.getElementsByTagName(held.tag)].find(alike);
  }

  function restore() {
    if (!held || held.element.isConnected || document.activeElement !== document.body) return;
    const box = held.around.map((id) => document.getElementById(id)).find(Boolean);
    const target = (held.id && document.getElementById(held.id)) || (box && again(box)) || box;
    const moved = held.path !== location.pathname;
    held = null;
    if (!target || moved) return;
    if (target === box && !box.hasAttribute("tabindex")) box.tabIndex = -1;
    target.focus({ preventScroll: true });
  }

  document.addEventListener("focusin", ({ target }) => {
    held = target.closest("#content") && target.id !== "content" ? described(target) : null;
  });
  // What is taken off the page loses the focus too; only what stays has been left.
  document.addEventListener("focusout", ({ target }) => {
    queueMicrotask(() => {
      if (target.isConnected && held && held.element === target) held = null;
    });
  });
  new MutationObserver(restore).observe(document.documentElement, { childList: true, subtree: true });
})();
