/* Live series as SVG. One chart is a model (what the server sent) and an element to draw
   into; drawing only changes attributes of elements that are there, so ten charts take a
   few milliseconds. Plotly, which draws what does not change all the time, needs about
   20 ms for each: too much for a page of ten that is open in ten browsers. The charts of
   a page share one time axis and one crosshair. */
(function () {
  "use strict";
  const weir = (window.weir = window.weir || {});
  const M = { left: 38, right: 10, top: 8, bottom: 18 };
  const LEAST_SPAN_MS = 60e3;
  const { nearest, number, paths, scale, summary, timeStep } = weir.math;
  const { escape, marks } = weir;
  const TOLD_EVERY_MS = 5000;
  const MANY = 24; // charts; of more than that only those near the screen are drawn
  const bound = new Map(); // element -> Chart

  weir.models = {};
  weir.windowMs = 15 * 60e3;

  /* The style sheet has every colour, for both themes; Plotly wants values. */
  let colours = {};
  weir.colour = function (name) {
    if (!(name in colours))
      colours[name] = getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
    return colours[name];
  };
  weir.faint = function (name, share) {
    const [r, g, b] = [1, 3, 5].map((at) => parseInt(weir.colour(name).slice(at, at + 2), 16));
    return `rgba(${r},${g},${b},${share})`;
  };

  /* The span that all charts of the page show now. */
  function domain() {
    if (weir.zoomed) return weir.zoomed;
    if (weir.span) return weir.span;
    let first = Infinity;
    let last = -Infinity;
    for (const chart of bound.values()) {
      const x = chart.model.x;
      if (!x.length) continue;
      first = Math.min(first, x[0]);
      last = Math.max(last, x[x.length - 1]);
    }
    const now = weir.now();
    const end = last > now - 4000 ? last : now;
    const span = Math.min(weir.windowMs, Math.max(end - first, LEAST_SPAN_MS));
    return [end - (isFinite(span) ? span : LEAST_SPAN_MS), end];
  }

  class Chart {
    constructor(element, model) {
      this.element = element;
      this.model = model;
      element.dataset.name = element.dataset.name || element.getAttribute("aria-label") || "";
      this.right = model.traces.some((trace) => trace.right) ? 40 : M.right;
      element.replaceChildren();
      this.svg = weir.svg("svg", { "aria-hidden": "true" }, element);
      this.axes = weir.svg("g", { class: "axes" }, this.svg);
      this.inner = weir.svg("svg", { overflow: "hidden" }, this.svg);
      this.limit = weir.svg("g", { class: "limit" }, this.svg);
      this.events = weir.svg("g", { class: "events" }, this.svg);
      this.fills = [];
      this.lines = [];
      model.traces.forEach((trace) => {
        const colour = `var(--${trace.colour})`;
        const filled = trace.style === "area" || trace.style === "stack";
        this.fills.push(
          filled
            ? weir.svg("path", { fill: colour, class: "fill fill-" + trace.style }, this.inner)
            : null,
        );
      });
      model.traces.forEach((trace) => {
        this.lines.push(
          weir.svg(
            "path",
            {
              stroke: `var(--${trace.colour})`,
              class: "line" + (trace.dashed ? " dashed" : ""),
            },
            this.inner,
          ),
        );
      });
      this.cross = weir.svg("line", { class: "cross", visibility: "hidden" }, this.svg);
      this.dots = model.traces.map((trace) =>
        weir.svg("circle", { r: 3, fill: `var(--${trace.colour})`, visibility: "hidden" }, this.svg),
      );
      this.tip = document.createElement("div");
      this.tip.className = "tip";
      this.tip.hidden = true;
      element.appendChild(this.tip);
      this.measure();
      this.listen();
    }

    measure() {
      this.width = this.element.clientWidth;
      this.height = this.element.clientHeight;
    }

    listen() {
      const el = this.element;
      el.onpointermove = (event) => {
        const x = event.clientX - el.getBoundingClientRect().left;
        const mark = marks.at(this, x - M.left);
        el.classList.toggle("on-mark", !!(mark && mark.href));
        weir.hover(this, mark ? mark.at : this.timeAt(x), mark);
      };
      el.onclick = (event) => {
        marks.open(marks.at(this, event.clientX - el.getBoundingClientRect().left - M.left));
      };
      el.onpointerleave = () => weir.hover(null, null);
      el.onblur = el.onpointerleave;
      el.onkeydown = (event) => {
        if (event.key === "Enter" && weir.hovered === this) marks.open(weir.marked);
        const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
        const x = this.model.x;
        if (!step || !x.length) return;
        event.preventDefault();
        const from = this.at == null ? x.length - 1 : nearest(x, this.at) + step;
        const at = x[Math.min(Math.max(from, 0), x.length - 1)];
        weir.hover(this, at, marks.at(this, this.px(at)));
      };
    }

    draw(start, end) {
      const { width, height } = this; // measured when it changes: reading it here costs a layout
      if (!width || !height) return;
      const w = width - M.left - this.right;
      const h = height - M.top - M.bottom;
      const { x, traces } = this.model;
      let from = x.findIndex((t) => t >= start);
      from = from < 0 ? x.length : Math.max(from - 1, 0);
      const columns = this.columns();
      const reach = (least, right) => {
        let top = least || 0;
        columns.forEach((column, k) => {
          if (!traces[k].right !== !right) return;
          for (let i = from; i < x.length; i++) if (column[i] > top) top = column[i];
        });
        return top > 0 ? top : 1;
      };
      const top = reach(this.model.leastTop, false);
      const axis = scale(this.model.whole ? top + 0.5 : top * 1.04, this.model.whole);
      const other = this.right > M.right ? scale(reach(this.model.leastTopRight, true) * 1.04) : null;
      const px = (t) => ((t - start) / (end - start)) * w;
      const py = (v) => h - (v / axis.top) * h;
      const pyRight = other ? (v) => h - (v / other.top) * h : py;
      Object.assign(this, { start, end, w, h, px, py, pyRight, shown: columns });
      set(this.svg, { width, height, viewBox: `0 0 ${width} ${height}` });
      set(this.inner, { x: M.left, y: M.top - 2, width: w, height: h + 4, viewBox: `0 -2 ${w} ${h + 4}` });
      this.drawAxes(axis, other, w, h);
      traces.forEach((trace, i) => {
        const lower = trace.style === "stack" ? columns[i - 1] : null;
        const [line, fill] = paths(x, columns[i], lower, from, px, trace.right ? pyRight : py, h, trace.style === "step");
        this.lines[i].setAttribute("d", line);
        if (this.fills[i]) this.fills[i].setAttribute("d", fill);
      });
      this.events.innerHTML = marks.draw(this, M.left, M.top, h);
      this.drawCross();
      this.tell(start, end);
    }

    /* In words, for screen readers; they read it when somebody comes to the chart. */
    tell(start, end) {
      if (end - this.toldAt < TOLD_EVERY_MS) return;
      this.toldAt = end;
      const minutes = Math.max(1, Math.round((end - start) / 60e3));
      const said = `${this.element.dataset.name}, ${minutes} min: ${summary(this.model, start)}`;
      this.element.setAttribute("aria-label", said);
    }

    /* The values as drawn: stacked ones stand on each other. */
    columns() {
      const { traces, y, x } = this.model;
      if (!traces.some((trace) => trace.style === "stack")) return y;
      const sums = new Array(x.length).fill(0);
      return y.map((column, k) =>
        traces[k].style === "stack" ? column.map((v, i) => (sums[i] += v || 0)) : column,
      );
    }

    drawAxes(axis, other, w, h) {
      const parts = [];
      for (let v = 0; v <= axis.top * 1.001; v += axis.step) {
        const y = M.top + this.py(v);
        parts.push(
          `<line class="grid" x1="${M.left}" x2="${M.left + w}" y1="${y}" y2="${y}"/>`,
          `<text class="y" x="${M.left - 6}" y="${y + 3.5}">${number(v)}</text>`,
        );
      }
      const unit = (this.model.traces.find((trace) => trace.right) || {}).unit;
      for (let v = 0; other && v <= other.top * 1.001; v += other.step)
        parts.push(
          `<text class="y-right" x="${M.left + w + 6}" y="${M.top + this.pyRight(v) + 3.5}">${number(v)}${unit ? " " + unit : ""}</text>`,
        );
      const step = timeStep(this.end - this.start, w);
      const zone = new Date().getTimezoneOffset() * 60e3;
      let t = Math.ceil((this.start - zone) / step) * step + zone;
      for (; t <= this.end; t += step) {
        const x = M.left + this.px(t);
        if (x < M.left + 16 || x > M.left + w - 14) continue;
        const text = weir.clock(t, step < 60e3);
        parts.push(`<text class="x" x="${x}" y="${M.top + h + 14}">${text}</text>`);
      }
      this.axes.innerHTML = parts.join("");
      const line = this.model.line;
      const right = this.model.lineRight && other;
      if (line == null || line > (right ? other : axis).top) this.limit.innerHTML = "";
      else {
        const y = M.top + (right ? this.pyRight : this.py)(line);
        this.limit.innerHTML =
          `<line x1="${M.left}" x2="${M.left + w}" y1="${y}" y2="${y}"/>` +
          `<text x="${M.left + w}" y="${y - 4}">${this.model.lineLabel}</text>`;
      }
    }

    timeAt(px) {
      return this.start + ((px - M.left) / this.w) * (this.end - this.start);
    }

    drawCross() {
      const { x, y, traces, unit } = this.model;
      const at = this.at == null || !x.length ? -1 : nearest(x, this.at);
      const out = at < 0 || x[at] < this.start - 1;
      this.cross.setAttribute("visibility", out ? "hidden" : "visible");
      this.tip.hidden = out || weir.hovered !== this;
      this.dots.forEach((dot, i) => {
        const value = out ? null : this.shown[i][at];
        dot.setAttribute("visibility", value == null ? "hidden" : "visible");
        if (value != null) set(dot, { cx: M.left + this.px(x[at]), cy: M.top + (traces[i].right ? this.pyRight : this.py)(value) });
      });
      if (out) return;
      const cx = M.left + this.px(x[at]);
      set(this.cross, { x1: cx, x2: cx, y1: M.top, y2: M.top + this.h });
      if (this.tip.hidden) return;
      const rows = traces.map((trace, i) => {
        const value = y[i][at];
        const its = trace.unit || unit;
        const words = value == null ? "not measured" : number(value) + (its ? " " + its : "");
        return `<div><i style="background:var(--${trace.colour})"></i>${escape(trace.name)}<b>${words}</b></div>`;
      });
      this.tip.innerHTML = `<time>${weir.clock(x[at], true)}</time>` + rows.join("") + marks.tip();
      const right = cx > this.width / 2;
      this.tip.style.left = right ? "auto" : cx + 10 + "px";
      this.tip.style.right = right ? this.width - cx + 10 + "px" : "auto";
    }
  }

  function set(element, attributes) {
    for (const key in attributes) element.setAttribute(key, attributes[key]);
  }

  weir.hovered = null;
  weir.hover = function (chart, time, mark) {
    weir.hovered = chart;
    weir.marked = mark || null;
    for (const other of bound.values()) {
      other.at = time;
      if (other.start != null) other.drawCross();
    }
  };

  const resized = new ResizeObserver((entries) => {
    for (const { target } of entries) {
      const chart = bound.get(target);
      if (!chart || chart.start == null) continue;
      chart.measure();
      chart.draw(chart.start, chart.end);
    }
  });

  const seen = new IntersectionObserver(
    (entries) => {
      const [start, end] = domain();
      for (const { target, isIntersecting } of entries) {
        const chart = bound.get(target);
        if (!chart) continue;
        chart.near = isIntersecting;
        if (!chart.near || !chart.waits) continue;
        chart.waits = false;
        chart.measure();
        chart.draw(start, end);
      }
    },
    { rootMargin: "400px" },
  );

  /* Join the models with the elements that the page has for them. */
  weir.bind = function () {
    let fresh = false;
    for (const element of bound.keys()) if (!element.isConnected) bound.delete(element);
    for (const element of document.querySelectorAll("[data-chart]")) {
      const model = weir.models[element.dataset.chart];
      const chart = bound.get(element);
      if (!model || (chart && chart.model === model)) continue;
      bound.set(element, new Chart(element, model));
      resized.observe(element);
      seen.observe(element);
      fresh = true;
    }
    if (fresh) weir.drawCharts();
  };

  /* All charts, or those that have new points; one that is far from the screen waits. */
  weir.drawCharts = function (points) {
    const [start, end] = domain();
    for (const chart of bound.values()) {
      if (points && !(chart.model.key in points)) continue;
      chart.waits = bound.size > MANY && !chart.near;
      if (!chart.waits) chart.draw(start, end);
    }
    if (weir.redrawLarge) weir.redrawLarge(points);
  };
  weir.chartIn = (element) => bound.get(element) || null;

  new MutationObserver(() => {
    colours = {};
    weir.drawMatrices();
  }).observe(document.documentElement, { attributeFilter: ["data-mantine-color-scheme"] });

  /* New points at the end, old ones off the front; what is there already is not taken twice. */
  weir.append = function (key, points) {
    const model = weir.models[key];
    if (!model) return;
    points.x.forEach((t, i) => {
      if (model.x.length && t <= model.x[model.x.length - 1]) return;
      model.x.push(t);
      model.y.forEach((column, k) => column.push(points.y[k][i]));
    });
    const oldest = model.x[model.x.length - 1] - 15 * 60e3;
    let drop = 0;
    while (model.x[drop] < oldest) drop++;
    if (drop) {
      model.x.splice(0, drop);
      model.y.forEach((column) => column.splice(0, drop));
    }
  };
})();
