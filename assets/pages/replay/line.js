/* The timeline of a replay: the whole run at a glance. */
(function () {
  "use strict";
  const weir = (window.weir = window.weir || {});
  const KINDS = ["recommendation", "action", "executors", "restart", "settings"];

  /* The series of the whole run as an area, a row of marks below it, and times. Drawn in
     per cent of the width, so it need not be drawn again when the window changes. */
  weir.drawTimeline = function (line, timeline) {
    if (!line || !timeline) return;
    const first = timeline.first_at * 1000;
    const span = Math.max(timeline.last_at * 1000 - first, 1);
    const svg = weir.svg("svg", { viewBox: "0 0 1000 40", preserveAspectRatio: "none", class: "line-area" });
    const top = Math.max(...timeline.values.map((v) => v || 0), 1e-9);
    const gap = Math.max(4 * (span / Math.max(timeline.at.length, 1)), 3000 * timeline.period_s);
    let d = "";
    let open = false;
    let before = 0;
    timeline.at.forEach((at, i) => {
      const value = timeline.values[i];
      if (value == null) return;
      if (open && at * 1000 - before > gap) {
        d += `L${open} 40Z`; // nobody reported for a while
        open = false;
      }
      before = at * 1000;
      const x = (((at * 1000 - first) / span) * 1000).toFixed(1);
      const y = (39 - (value / top) * 37).toFixed(1);
      d += open ? `L${x} ${y}` : `M${x} 40L${x} ${y}`;
      open = x;
    });
    if (open) weir.svg("path", { d: d + `L${open} 40Z` }, svg);
    const marks = document.createElement("div");
    marks.className = "line-marks";
    for (const kind of KINDS)
      for (const mark of timeline.marks.filter((m) => m.kind === kind)) {
        const dot = document.createElement("i");
        dot.className = "mark mark-" + kind;
        dot.style.left = (((mark.at - first) / span) * 100).toFixed(3) + "%";
        dot.title = `${weir.clock(mark.at, true)} ${mark.text}`;
        dot.dataset.at = mark.at;
        marks.append(dot);
      }
    const cursor = document.createElement("b");
    cursor.className = "line-cursor";
    const times = document.createElement("div");
    times.className = "line-times";
    for (const share of [0, 0.25, 0.5, 0.75, 1]) {
      const time = document.createElement("span");
      time.textContent = weir.clock(first + share * span, span < 3600e3);
      times.append(time);
    }
    const words = document.createElement("span");
    words.className = "line-words";
    words.textContent = `${timeline.label}, at most ${weir.math.number(top)} ${timeline.unit}`;
    line.replaceChildren(svg, marks, cursor, times, words);
  };
})();
