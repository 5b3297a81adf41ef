/* Time series, drawn by Plotly. A chart is a model (what the server sent) and an
   element to draw into. All charts of a page show the same span of time. */
(function () {
  "use strict";
  const weir = (window.weir = window.weir || {});
  const LEAST_SPAN_MS = 60e3;
  const KEPT_MS = 15 * 60e3;
  const CONFIG = { displayModeBar: false, responsive: false, doubleClick: false };
  const bound = new Map(); // element -> model

  weir.models = {};
  weir.windowMs = KEPT_MS;

  /* The style sheet has every colour, for both themes; Plotly wants values. */
  let colours = {};
  weir.colour = colour;
  function colour(name) {
    if (!(name in colours))
      colours[name] = getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
    return colours[name];
  }
  function faint(name, share) {
    const [r, g, b] = [1, 3, 5].map((at) => parseInt(colour(name).slice(at, at + 2), 16));
    return `rgba(${r},${g},${b},${share})`;
  }

  weir.faint = faint;

  /* Plotly shows times as UTC: give it the viewer's wall clock. */
  function local(ms) {
    return ms - new Date(ms).getTimezoneOffset() * 60e3;
  }

  /* The span that all charts of the page show now. */
  function domain() {
    let first = Infinity;
    let last = -Infinity;
    for (const { x } of bound.values()) {
      if (!x.length) continue;
      first = Math.min(first, x[0]);
      last = Math.max(last, x[x.length - 1]);
    }
    const now = weir.now();
    const end = last > now - 4000 ? last : now;
    const span = Math.min(weir.windowMs, Math.max(end - first, LEAST_SPAN_MS));
    return [end - (isFinite(span) ? span : LEAST_SPAN_MS), end];
  }

  /* Points from `start` on; a long silence is a gap, not a line across it. */
  function points(model, start) {
    const { x, y } = model;
    let from = x.findIndex((t) => t >= start);
    from = from < 0 ? x.length : Math.max(from - 1, 0);
    const gap = 4 * typicalStep(x);
    const times = [];
    const columns = y.map(() => []);
    for (let i = from; i < x.length; i++) {
      if (i > from && x[i] - x[i - 1] > gap) {
        times.push(local(x[i - 1] + 1));
        columns.forEach((column) => column.push(null));
      }
      times.push(local(x[i]));
      columns.forEach((column, k) => column.push(y[k][i]));
    }
    return [times, columns];
  }

  function typicalStep(x) {
    if (x.length < 3) return Infinity;
    const tail = x.slice(-20);
    const steps = tail.slice(1).map((t, i) => t - tail[i]);
    return steps.sort((a, b) => a - b)[steps.length >> 1];
  }

  function traces(model, start) {
    const [times, columns] = points(model, start);
    return model.traces.map((trace, k) => ({
      type: "scatter",
      mode: "lines",
      name: trace.name,
      x: times,
      y: columns[k],
      line: {
        color: colour(trace.colour),
        width: trace.style === "stack" ? 1 : 1.7,
        dash: trace.dashed ? "4px,4px" : "solid",
        shape: trace.style === "step" ? "hv" : "linear",
      },
      stackgroup: trace.style === "stack" ? "all" : undefined,
      fill: trace.style === "area" ? "tozeroy" : undefined,
      fillcolor: faint(trace.colour, trace.style === "stack" ? 0.3 : 0.13),
      hovertemplate: `%{y:.4~g}${model.unit ? " " + model.unit : ""}`,
    }));
  }

  function layout(model, start, end) {
    const quiet = colour("quiet");
    const limit = model.line == null ? [] : [model.line];
    const events = (model.events || []).filter((event) => event.at >= start && event.at <= end);
    return {
      margin: { l: 38, r: 8, t: model.events ? 22 : 8, b: 20 },
      paper_bgcolor: "rgba(0,0,0,0)",
      plot_bgcolor: "rgba(0,0,0,0)",
      showlegend: false,
      hovermode: "x unified",
      hoverlabel: {
        bgcolor: colour("surface"),
        bordercolor: colour("edge-strong"),
        font: { color: colour("text"), size: 12 },
      },
      font: { family: getComputedStyle(document.body).fontFamily, size: 11, color: quiet },
      xaxis: {
        type: "date",
        range: [local(start), local(end)],
        fixedrange: true,
        showgrid: false,
        zeroline: false,
        nticks: 4,
        tickformat: end - start <= 150e3 ? "%H:%M:%S" : "%H:%M",
        hoverformat: "%H:%M:%S",
      },
      yaxis: {
        autorange: true,
        autorangeoptions: { minallowed: 0, include: [0, model.leastTop || 1] },
        fixedrange: true,
        gridcolor: colour("grid"),
        zeroline: false,
        nticks: 5,
        tickformat: (model.leastTop || 0) < 5 ? "~g" : "~s",
        dtick: model.whole && Math.max(...model.y.flat(), 0) < 6 ? 1 : undefined,
      },
      shapes: limit.map((at) => ({
        type: "line",
        xref: "paper",
        x0: 0,
        x1: 1,
        y0: at,
        y1: at,
        line: { color: colour("bad"), width: 1, dash: "4px,3px" },
      })).concat(events.map(eventLine)),
      annotations: limit.map((at) => ({
        text: model.lineLabel,
        xref: "paper",
        x: 1,
        y: at,
        xanchor: "right",
        yanchor: "bottom",
        showarrow: false,
        font: { color: colour("bad"), size: 11 },
      })).concat(events.map(eventMark)),
    };
  }

  /* What was done, as a line with a mark on top that says what it was. */
  function eventLine(event) {
    return {
      type: "line",
      x0: local(event.at),
      x1: local(event.at),
      yref: "paper",
      y0: 0,
      y1: 1,
      line: { color: colour("series-4"), width: 1, dash: "2px,3px" },
    };
  }
  function eventMark(event) {
    return {
      x: local(event.at),
      yref: "paper",
      y: 1,
      yanchor: "bottom",
      text: "◆",
      hovertext: `${weir.clock(event.at, true)} ${event.text}`,
      hoverlabel: { bgcolor: colour("surface"), font: { color: colour("text"), size: 12 } },
      showarrow: false,
      captureevents: true,
      borderpad: 0,
      font: { color: colour("series-4"), size: 12 },
    };
  }

  function draw(element, start, end) {
    const model = bound.get(element);
    if (!element.clientWidth || !element.clientHeight) return null;
    return Plotly.react(element, traces(model, start), layout(model, start, end), CONFIG);
  }

  /* Arrow keys walk along the series, as the pointer does. */
  function listen(element) {
    element.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      const count = element.data && element.data[0] ? element.data[0].x.length : 0;
      if (!step || !count) return;
      event.preventDefault();
      const from = element.weirAt == null ? count - (step > 0 ? 0 : 1) : element.weirAt + step;
      element.weirAt = Math.min(Math.max(from, 0), count - 1);
      const at = element.data.map((_, k) => ({ curveNumber: k, pointNumber: element.weirAt }));
      Plotly.Fx.hover(element, at);
    });
    element.addEventListener("blur", () => {
      element.weirAt = null;
      if (element.data) Plotly.Fx.unhover(element);
    });
  }

  weir.clock = function (ms, withSeconds) {
    return new Date(ms).toLocaleTimeString([], {
      hour: "2-digit",
      minute: "2-digit",
      second: withSeconds ? "2-digit" : undefined,
      hour12: false,
    });
  };

  const resized = new ResizeObserver((entries) => {
    for (const { target } of entries)
      if (bound.has(target) && target.clientWidth) {
        if (target.data) Plotly.Plots.resize(target);
        else draw(target, ...domain());
      }
  });

  /* Join the models with the elements that the page has for them. */
  weir.bind = function () {
    const fresh = [];
    for (const element of bound.keys()) if (!element.isConnected) bound.delete(element);
    for (const element of document.querySelectorAll("[data-chart]")) {
      const model = weir.models[element.dataset.chart];
      if (!model || bound.get(element) === model) continue;
      if (!bound.has(element)) {
        listen(element);
        resized.observe(element);
      }
      bound.set(element, model);
      fresh.push(element);
    }
    const [start, end] = domain();
    for (const element of fresh) draw(element, start, end);
  };

  /* All charts, or those that have new points; resolves when they are in the page. */
  weir.drawCharts = function (points) {
    const [start, end] = domain();
    const drawn = [];
    for (const [element, model] of bound)
      if (!points || model.key in points) drawn.push(draw(element, start, end));
    return Promise.all(drawn);
  };

  /* New points at the end, old ones off the front; what is there already is not taken twice. */
  weir.append = function (key, added) {
    const model = weir.models[key];
    if (!model) return;
    added.x.forEach((t, i) => {
      if (model.x.length && t <= model.x[model.x.length - 1]) return;
      model.x.push(t);
      model.y.forEach((column, k) => column.push(added.y[k][i]));
    });
    const oldest = model.x[model.x.length - 1] - KEPT_MS;
    let drop = 0;
    while (model.x[drop] < oldest) drop++;
    if (drop) {
      model.x.splice(0, drop);
      model.y.forEach((column) => column.splice(0, drop));
    }
  };

  new MutationObserver(() => {
    colours = {};
    weir.drawCharts();
    weir.drawMatrices();
  }).observe(document.documentElement, { attributeFilter: ["data-mantine-color-scheme"] });
})();
