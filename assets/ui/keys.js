/* The inbox without a mouse. A key never acts by itself: it chooses, or opens the dialog that
   says what will happen. Nothing happens while somebody types or while a dialog is open. */
(function () {
  "use strict";
  const HELP = [
    ["j", "next recommendation"],
    ["k", "previous recommendation"],
    ["↓ ↑", "the same, within the inbox"],
    ["a", "approve the chosen one (asks first)"],
    ["r", "reject the chosen one (asks first)"],
    ["Enter", "details of the chosen one; in a dialog, confirm"],
    ["Esc", "close a dialog"],
    ["← →", "along a chart that has the focus; Enter opens what a mark stands for"],
    ["?", "this list"],
  ];
  let chosen = null; // id of the recommendation

  const items = () => [...document.querySelectorAll("[data-recommendation]")];
  const current = () => items().find((item) => item.dataset.recommendation === chosen);

  function typing(target) {
    return !!target.closest("input, textarea, select, [contenteditable='true']");
  }

  function dialogOpen() {
    return !!document.querySelector("dialog[open], [role='dialog']");
  }

  function choose(step) {
    const all = items();
    if (!all.length) return;
    const at = all.indexOf(current());
    const next = at < 0 ? 0 : Math.min(Math.max(at + step, 0), all.length - 1);
    focus(all[next]);
  }

  function focus(item) {
    chosen = item.dataset.recommendation;
    item.focus({ preventScroll: true });
    item.scrollIntoView({ block: "nearest" });
  }

  function press(verb) {
    const item = current();
    if (!item) return choose(0);
    const button = item.querySelector(`[data-verb="${verb}"]`);
    if (button && !button.disabled) button.click();
  }

  function details() {
    const link = current() && current().querySelector("a[href^='/recommendation/']");
    if (link) link.click();
  }

  function help() {
    let box = document.getElementById("keys-help");
    if (!box) {
      box = document.createElement("dialog");
      box.id = "keys-help";
      box.setAttribute("aria-label", "Keys");
      const title = document.createElement("h2");
      title.textContent = "Keys";
      const list = document.createElement("dl");
      for (const [key, words] of HELP) {
        const dt = document.createElement("dt");
        const kbd = document.createElement("kbd");
        kbd.textContent = key;
        dt.append(kbd);
        const dd = document.createElement("dd");
        dd.textContent = words;
        list.append(dt, dd);
      }
      const close = document.createElement("button");
      close.type = "button";
      close.className = "button";
      close.textContent = "Close";
      close.onclick = () => box.close();
      box.append(title, list, close);
      document.body.append(box);
    }
    box.showModal();
  }

  function confirmByEnter(event) {
    if (event.key !== "Enter" || !event.target.matches("#dialog-comment[data-autofocus]") || event.isComposing) return;
    event.preventDefault();
    const button = document.getElementById("dialog-confirm");
    if (button && !button.disabled) button.click();
  }

  document.addEventListener("keydown", (event) => {
    const target = event.target.closest ? event.target : document.body;
    confirmByEnter(event);
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    if (typing(target) || dialogOpen()) return;
    const item = target.closest("[data-recommendation]");
    if (item) chosen = item.dataset.recommendation;
    const steps = { j: 1, k: -1, ...(item ? { ArrowDown: 1, ArrowUp: -1 } : {}) };
    if (event.key in steps) choose(steps[event.key]);
    else if (event.key === "a") press("approve");
    else if (event.key === "r") press("reject");
    else if (event.key === "Enter" && target === item) details();
    else if (event.key === "?") help();
    else return;
    event.preventDefault();
  });
  document.addEventListener("focusin", (event) => {
    const item = event.target.closest && event.target.closest("[data-recommendation]");
    if (item) chosen = item.dataset.recommendation;
  });
  /* A setting that a search led to, once its page has come. */
  let shown = "";
  function target() {
    const hash = decodeURIComponent(location.hash.slice(1));
    if (!hash || location.href === shown) return;
    const line = document.querySelector(`[data-anchor="${CSS.escape(hash)}"]`);
    if (!line) return;
    shown = location.href;
    document.querySelectorAll(".is-target").forEach((other) => other.classList.remove("is-target"));
    const folded = line.closest("details");
    if (folded) folded.open = true;
    line.classList.add("is-target");
    line.scrollIntoView({ block: "center" });
  }

  /* A list that is drawn again loses the focus: it goes back to the one that was chosen. */
  new MutationObserver(() => {
    const item = document.activeElement === document.body && !dialogOpen() && current();
    if (item) item.focus({ preventScroll: true });
    target();
  }).observe(document.documentElement, { childList: true, subtree: true });
})();
