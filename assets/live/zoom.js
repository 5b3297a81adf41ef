/* Dragging over a live chart shows that stretch of time, on all charts of the page; a
   double-click, Escape or the button that appears shows all again. */
(function () {
  "use strict";
  const weir = (window.weir = window.weir || {});
  const LEAST_PX = 6; // a shorter way is a click
  const LEAST_MS = 2000;
  let drag = null; // where it began
  let dragged = false; // the click that ends a drag opens nothing

  weir.zoomed = null; // from and to, while a stretch is shown

  const chartOf = (event) => {
    const element = event.target.closest && event.target.closest("[data-chart]");
    return element ? weir.chartIn(element) : null;
  };
  const at = (chart, event) => event.clientX - chart.element.getBoundingClientRect().left;

  /* The stretch between two places of a chart, in the time that it shows. */
  weir.stretch = function (chart, one, other) {
    const clip = (px) => Math.min(Math.max(chart.timeAt(px), chart.start), chart.end);
    const [from, to] = [clip(one), clip(other)].sort((a, b) => a - b);
    return to - from < LEAST_MS ? null : [from, to];
  };

  weir.zoom = function (span) {
    if (!span && !weir.zoomed) return;
    weir.zoomed = span;
    const button = document.getElementById("zoomed") || made();
    button.hidden = !span;
    if (span) weir.setText(button, `${weir.clock(span[0], true)} to ${weir.clock(span[1], true)}: show all again`);
    weir.drawCharts();
  };

  function made() {
    const button = document.createElement("button");
    button.id = "zoomed";
    button.type = "button";
    button.className = "button zoomed";
    button.addEventListener("click", () => weir.zoom(null));
    return document.body.appendChild(button);
  }

  function mark(chart, one, other) {
    const box = chart.element.querySelector(".zoom-box") || document.createElement("div");
    box.className = "zoom-box";
    box.style.left = `${Math.min(one, other)}px`;
    box.style.width = `${Math.abs(other - one)}px`;
    if (!box.isConnected) chart.element.appendChild(box);
  }

  document.addEventListener("pointerdown", (event) => {
    dragged = false;
    if (event.button !== 0 || event.pointerType === "touch") return; // a finger scrolls
    const chart = chartOf(event);
    if (chart && chart.start != null) drag = { chart, from: at(chart, event) };
  });
  document.addEventListener("pointermove", (event) => {
    if (!drag) return;
    const to = at(drag.chart, event);
    if (Math.abs(to - drag.from) < LEAST_PX) return;
    dragged = true;
    event.preventDefault();
    mark(drag.chart, drag.from, to);
  });
  document.addEventListener("pointerup", (event) => {
    if (!drag) return;
    const { chart, from } = drag;
    drag = null;
    for (const box of document.querySelectorAll(".zoom-box")) box.remove();
    if (dragged) weir.zoom(weir.stretch(chart, from, at(chart, event)) || weir.zoomed);
  });
  document.addEventListener(
    "click",
    (event) => {
      if (!dragged || !chartOf(event)) return;
      event.stopPropagation();
      dragged = false;
    },
    true,
  );
  document.addEventListener("dblclick", (event) => {
    if (chartOf(event)) weir.zoom(null);
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && !document.querySelector("dialog[open], [role='dialog']")) weir.zoom(null);
  });
})();
