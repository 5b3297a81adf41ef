/* What the Scale page draws besides its series: the Q-table, the learning curve, and the
   queueing model against what was measured. */
(function () {
  "use strict";
  const weir = (window.weir = window.weir || {});
  const M = { left: 44, right: 12, top: 8, bottom: 30 };
  const { number, scale } = weir.math;
  let model = null;

  weir.takeScale = function (found) {
    model = found || null;
  };

  weir.drawScale = function () {
    if (!model) return;
    each("[data-qtable]", model.qtable, weir.drawQtable);
    each("[data-curve]", model.curve, drawCurve);
    each("[data-scatter]", model.sojourn.points, drawScatter);
  };

  /* Only where something is new: drawing changes the page, and changes of the page draw. */
  function each(selector, part, draw) {
    for (const element of document.querySelectorAll(selector)) {
      const { part: drawn, width } = element.weirDrawn || {};
      if (element.firstChild && drawn === part && width === element.clientWidth) continue;
      if (!element.weirDrawn) resized.observe(element);
      element.weirDrawn = { part, width: element.clientWidth };
      draw(element, part);
    }
  }

  const resized = new ResizeObserver(() => weir.drawScale());

  /* The frame that both plots share: an SVG, a tip, and a way to walk along the points. */
  function frame(element, drawing, points, words) {
    const tip = document.createElement("div");
    tip.className = "tip";
    tip.setAttribute("role", "status");
    tip.hidden = true;
    element.innerHTML = `<svg width="${element.clientWidth}" height="${element.clientHeight}" aria-hidden="true">${drawing}<circle class="here" r="5" visibility="hidden"/></svg>`;
    element.appendChild(tip);
    const dot = element.querySelector(".here");
    const show = (index) => {
      element.weirAt = index;
      const point = index == null ? null : points[index];
      tip.hidden = !point;
      dot.setAttribute("visibility", point ? "visible" : "hidden");
      if (!point) return;
      dot.setAttribute("cx", point[0]);
      dot.setAttribute("cy", point[1]);
      tip.innerHTML = words(index);
      const right = point[0] > element.clientWidth / 2;
      tip.style.left = right ? "auto" : point[0] + 10 + "px";
      tip.style.right = right ? element.clientWidth - point[0] + 10 + "px" : "auto";
    };
    element.onpointermove = (event) => {
      const box = element.getBoundingClientRect();
      const [x, y] = [event.clientX - box.left, event.clientY - box.top];
      let best = null;
      let least = Infinity;
      points.forEach((p, i) => {
        const far = (p[0] - x) ** 2 + (p[1] - y) ** 2 * (element.dataset.curve ? 0.01 : 1);
        if (far < least) [least, best] = [far, i];
      });
      show(best);
    };
    element.onpointerleave = element.onblur = () => show(null);
    element.onkeydown = (event) => {
      const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (!step || !points.length) return;
      event.preventDefault();
      const from = element.weirAt == null ? points.length - 1 : element.weirAt + step;
      show(Math.min(Math.max(from, 0), points.length - 1));
    };
    if (element.weirAt != null) show(Math.min(element.weirAt, points.length - 1));
  }

  function empty(element, words) {
    element.innerHTML = `<p class="quiet plot-empty">${words}</p>`;
    element.onpointermove = element.onkeydown = null;
  }

  function signed(value) {
    return (value < 0 ? "−" : "+") + Math.abs(value).toFixed(2);
  }

  function drawCurve(element, { rewards, mean, over, before }) {
    const width = element.clientWidth;
    if (!width) return;
    if (!rewards.length) return empty(element, "No reward yet: the first comes with the second decision.");
    const w = width - M.left - M.right;
    const h = element.clientHeight - M.top - M.bottom;
    const top = Math.max(1, ...rewards.map(Math.abs));
    const px = (i) => M.left + (rewards.length < 2 ? w / 2 : (i / (rewards.length - 1)) * w);
    const py = (v) => M.top + h / 2 - (v / top) * (h / 2);
    const parts = [-top, 0, top].map(
      (v) =>
        `<line class="grid" x1="${M.left}" x2="${M.left + w}" y1="${py(v)}" y2="${py(v)}"/>` +
        `<text class="y" x="${M.left - 6}" y="${py(v) + 3.5}">${v ? signed(v).replace(".00", "") : 0}</text>`,
    );
    const f = (n) => n.toFixed(1);
    rewards.forEach((r, i) => parts.push(`<circle class="reward" cx="${f(px(i))}" cy="${f(py(r))}" r="2"/>`));
    const line = mean.map((m, i) => (i ? "L" : "M") + f(px(i)) + " " + f(py(m))).join("");
    parts.push(`<path class="line mean" d="${line}"/>`);
    const [first, last] = [before + 1, before + rewards.length];
    parts.push(
      `<text class="x" x="${M.left + 20}" y="${M.top + h + 16}">${first}</text>` +
        `<text class="x" x="${M.left + w - 10}" y="${M.top + h + 16}">${last}</text>` +
        `<text class="x" x="${M.left + w / 2}" y="${M.top + h + 16}">decisions</text>`,
    );
    frame(
      element,
      parts.join(""),
      rewards.map((r, i) => [px(i), py(r)]),
      (i) =>
        `<time>decision ${before + i + 1}</time><div>reward<b>${signed(rewards[i])}</b></div>` +
        `<div>mean of the last ${Math.min(over, i + 1)}<b>${signed(mean[i])}</b></div>`,
    );
  }

  /* What the axes hold: all that was measured, and nine of ten that the model says. One moment at
     which it went astray must not push all others into a corner; it is drawn at the edge. */
  function reach(points) {
    const modelled = points.map((p) => p[1]).sort((a, b) => a - b);
    const usual = modelled[Math.floor(0.9 * (modelled.length - 1))];
    return Math.max(0.1, usual, ...points.map((p) => p[2]));
  }
  weir.scatterReach = reach;

  function drawScatter(element, points) {
    const width = element.clientWidth;
    if (!width) return;
    if (!points.length)
      return empty(element, "Nothing to compare yet: the queueing model needs some periods first.");
    const w = width - M.left - M.right;
    const h = element.clientHeight - M.top - M.bottom;
    const axis = scale(reach(points) * 1.05);
    const px = (v) => M.left + (Math.min(v, axis.top) / axis.top) * w;
    const py = (v) => M.top + h - (Math.min(v, axis.top) / axis.top) * h;
    const parts = [];
    for (let v = 0; v <= axis.top * 1.001; v += axis.step)
      parts.push(
        `<line class="grid" x1="${M.left}" x2="${M.left + w}" y1="${py(v)}" y2="${py(v)}"/>` +
          `<line class="grid" x1="${px(v)}" x2="${px(v)}" y1="${M.top}" y2="${M.top + h}"/>` +
          `<text class="y" x="${M.left - 6}" y="${py(v) + 3.5}">${number(v)}</text>` +
          `<text class="x" x="${px(v)}" y="${M.top + h + 14}">${number(v)}</text>`,
      );
    parts.push(
      `<line class="diagonal" x1="${px(0)}" y1="${py(0)}" x2="${px(axis.top)}" y2="${py(axis.top)}"/>`,
      `<text class="x" x="${M.left + w / 2}" y="${M.top + h + 28}">by the model, s</text>`,
      `<text class="x" transform="translate(11 ${M.top + h / 2}) rotate(-90)">measured, s</text>`,
    );
    points.forEach((p, i) => {
      const opacity = (0.12 + (0.7 * (i + 1)) / points.length).toFixed(2);
      const newest = i === points.length - 1;
      parts.push(
        `<circle class="moment${newest ? " newest" : ""}" cx="${px(p[1]).toFixed(1)}" cy="${py(p[2]).toFixed(1)}" r="${newest ? 5 : 3}" opacity="${newest ? 1 : opacity}"/>`,
      );
    });
    frame(
      element,
      parts.join(""),
      points.map((p) => [px(p[1]), py(p[2])]),
      (i) =>
        `<time>${weir.clock(points[i][0], true)}</time><div>by the model<b>${number(points[i][1])} s</b></div>` +
        `<div>measured<b>${number(points[i][2])} s</b></div>`,
    );
  }
})();
