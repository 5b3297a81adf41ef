/* Plots of runs that are over, drawn by Plotly; each element carries what it shows. */
(function () {
  "use strict";
  const weir = (window.weir = window.weir || {});
  const LARGE = { displaylogo: false, responsive: true, doubleClick: "reset", modeBarButtonsToRemove: ["select2d", "lasso2d"] };
  const CONFIG = { displayModeBar: false, responsive: true, doubleClick: "reset" };

  weir.drawPlots = function () {
    if (document.querySelector("[data-plot][data-model]")) weir.withPlotly(draw);
  };

  function draw() {
    for (const element of document.querySelectorAll("[data-plot]")) {
      if (!element.dataset.model || !element.clientWidth) continue;
      weir.plotInto(element, JSON.parse(element.dataset.model), element.classList.contains("trend-plot"));
    }
  }

  const KINDS = {
    times: [times, timesLayout],
    scatter: [scatter, scatterLayout],
    bars: [bars, barsLayout],
    figure: [figure, figureLayout],
  };

  /* Draw a plot; a large one is zoomed, moved and named in full. */
  weir.plotInto = function (element, plot, large) {
    const [data, layout] = KINDS[plot.kind] || [lines, linesLayout];
    const drawn = layout(plot);
    if (large) {
      drawn.showlegend = true;
      for (const axis of [drawn.xaxis, drawn.yaxis]) axis.fixedrange = false;
    } else if (matchMedia("(pointer: coarse)").matches) drawn.dragmode = false; // a finger scrolls
    Plotly.react(element, data(plot), drawn, large ? LARGE : CONFIG);
  };

  function duration(s) {
    const [h, m] = [Math.floor(s / 3600), Math.floor((s % 3600) / 60)];
    const rest = Math.round(s % 60);
    if (h) return m ? `${h}:${String(m).padStart(2, "0")} h` : `${h} h`;
    if (m) return rest ? `${m}:${String(rest).padStart(2, "0")} min` : `${m} min`;
    return `${rest} s`;
  }

  function lines(plot) {
    const words = plot.x.map(duration);
    const found = [];
    for (const line of plot.lines) {
      if (line.low) {
        const edge = { x: plot.x, mode: "lines", line: { width: 0 }, hoverinfo: "skip", showlegend: false };
        found.push({ ...edge, y: line.low });
        found.push({ ...edge, y: line.high, fill: "tonexty", fillcolor: weir.faint(line.colour, 0.16) });
      }
      found.push({
        x: plot.x,
        y: line.y,
        name: line.name,
        mode: "lines",
        connectgaps: false,
        line: {
          color: weir.colour(line.colour),
          width: 1.8,
          dash: line.dashed ? "4px,3px" : "solid",
          shape: line.step ? "hv" : "linear",
        },
        text: words,
        hovertemplate: `%{text}<br><b>%{y:.4~g} ${plot.unit}</b><extra>${line.name}</extra>`,
      });
    }
    return found;
  }

  function common() {
    const grid = { separatethousands: true, gridcolor: weir.colour("grid"), zerolinecolor: weir.colour("grid"), linecolor: weir.colour("edge") };
    return {
      grid,
      base: {
        margin: { l: 46, r: 12, t: 8, b: 34 },
        separators: ".,",
        paper_bgcolor: "rgba(0,0,0,0)",
        plot_bgcolor: "rgba(0,0,0,0)",
        font: { family: getComputedStyle(document.body).fontFamily, size: 11.5, color: weir.colour("quiet") },
        legend: { orientation: "h", x: 0, y: 1.02, yanchor: "bottom", font: { size: 12 } },
        hoverlabel: {
          bgcolor: weir.colour("surface"),
          bordercolor: weir.colour("edge-strong"),
          font: { color: weir.colour("text"), size: 12 },
          align: "left",
        },
      },
    };
  }

  function linesLayout(plot) {
    const { grid, base } = common();
    const end = plot.x.length ? plot.x[plot.x.length - 1] : 1;
    const step = [10, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 28800, 86400].find((s) => end / s <= 6) || 172800;
    const ticks = [];
    for (let t = 0; t <= end; t += step) ticks.push(t);
    return {
      ...base,
      showlegend: false, // stands once above all plots
      hovermode: "x unified",
      xaxis: { ...grid, tickvals: ticks, ticktext: ticks.map(duration), showgrid: false },
      yaxis: { ...grid, rangemode: "tozero", fixedrange: true },
      shapes:
        plot.limit == null
          ? []
          : [{ type: "line", xref: "paper", x0: 0, x1: 1, y0: plot.limit, y1: plot.limit,
               line: { color: weir.colour("bad"), width: 1, dash: "3px,4px" } }],
      annotations:
        plot.limit == null
          ? []
          : [{ xref: "paper", x: 1, y: plot.limit, text: plot.limitLabel, showarrow: false, xanchor: "right",
               yanchor: "bottom", bgcolor: weir.colour("surface"), font: { size: 10.5, color: weir.colour("bad") } }],
    };
  }

  /* Lines over the time of day, each with moments of its own: to zoom, pan and read exactly. */
  function times(plot) {
    return plot.lines.map((line) => ({
      x: line.x.map((ms) => weir.wallTime(ms)),
      y: line.y,
      name: line.name,
      mode: "lines",
      connectgaps: false,
      ...(line.stack ? { stackgroup: "one" } : {}),
      ...(line.right ? { yaxis: "y2" } : {}),
      line: {
        color: weir.colour(line.colour),
        width: 1.8,
        dash: line.dashed ? "4px,3px" : "solid",
        shape: line.step ? "hv" : "linear",
      },
      hovertemplate: `%{y:.5~g} ${line.unit || plot.unit}<extra>${weir.escape(line.name)}</extra>`,
    }));
  }

  function timesLayout(plot) {
    const { grid, base } = common();
    const { shapes, annotations } = linesLayout({ ...plot, x: [] });
    const right = plot.lines.find((line) => line.right);
    return {
      ...base,
      margin: { l: 54, r: 16, t: 30, b: 40 },
      showlegend: true,
      hovermode: "x unified",
      dragmode: "zoom",
      xaxis: { ...grid, type: "date", range: plot.span.map((ms) => weir.wallTime(ms)) },
      yaxis: { ...grid, rangemode: "tozero", title: { text: plot.unit || "" } },
      ...(right ? { yaxis2: { overlaying: "y", side: "right", rangemode: "tozero", title: { text: right.unit || "" } } } : {}),
      shapes,
      annotations,
      uirevision: plot.title, // a zoom stays while only the theme changes
    };
  }

  /* A moment in the viewer's zone, as Plotly takes it: it knows no zones. */
  weir.wallTime = function (ms) {
    return new Date(ms - new Date(ms).getTimezoneOffset() * 60000).toISOString().replace("T", " ").slice(0, 23);
  };

  /* Points with words, e.g. of a search: each group in a shape and colour of its own. */
  function scatter(plot) {
    return plot.groups.map((group) => ({
      x: group.x,
      y: group.y,
      text: group.text,
      name: group.name,
      mode: group.line ? "lines+markers" : group.labels ? "markers+text" : "markers",
      textposition: "top center",
      textfont: { size: 11, color: weir.colour("text") },
      line: { color: weir.colour(group.colour), width: 1.6, shape: "hv" },
      marker: { color: weir.colour(group.colour), symbol: group.symbol, size: group.size, opacity: group.opacity },
      hovertext: group.hover,
      hovertemplate: "%{hovertext}<extra></extra>",
    }));
  }

  /* From a little below 0, so that a point at 0 is seen whole. */
  function reach(values, least) {
    const top = Math.max(least, ...values);
    return [-0.04 * top, top * 1.12];
  }

  function scatterLayout(plot) {
    const { grid, base } = common();
    const all = (side) => plot.groups.flatMap((group) => group[side]);
    return {
      ...base,
      margin: { l: 54, r: 16, t: 30, b: 44 },
      hovermode: "closest",
      xaxis: { ...grid, title: { text: plot.xTitle }, range: reach(all("x"), 0.01) },
      yaxis: { ...grid, title: { text: plot.yTitle }, range: reach(all("y"), 1), ticksuffix: plot.ySuffix || "" },
    };
  }

  function bars(plot) {
    return [{
      type: "bar", orientation: "h", x: plot.values, y: plot.names, text: plot.text, textposition: "auto",
      marker: { color: weir.colour("series-1") }, hovertemplate: "%{y}: %{text}<extra></extra>",
    }];
  }

  function barsLayout() {
    const { grid, base } = common();
    return {
      ...base,
      margin: { l: 8, r: 12, t: 6, b: 24 },
      xaxis: { ...grid, fixedrange: true, tickformat: ".0%" },
      yaxis: { automargin: true, autorange: "reversed", fixedrange: true },
    };
  }

  /* A figure of an experiment: lines over numbers, or bars where x holds names. */
  function figure(plot) {
    return plot.lines.map((line) => ({
      type: plot.bars ? "bar" : "scatter",
      x: plot.x,
      y: line.y,
      name: line.name,
      mode: "lines+markers",
      line: { color: weir.colour(line.colour), width: 1.8, dash: line.dashed ? "4px,3px" : "solid" },
      marker: { color: weir.colour(line.colour), size: 5 },
      hovertemplate: `%{x}: <b>%{y:.4~g}</b><extra>${weir.escape(line.name)}</extra>`,
    }));
  }

  function figureLayout(plot) {
    const { grid, base } = common();
    return {
      ...base,
      margin: { l: 54, r: 16, t: 30, b: 44 },
      showlegend: true,
      barmode: "group",
      hovermode: "closest",
      xaxis: { ...grid, title: { text: plot.xTitle }, type: plot.bars ? "category" : "linear", fixedrange: true },
      yaxis: { ...grid, title: { text: plot.yTitle }, rangemode: "tozero", fixedrange: true },
    };
  }

  new MutationObserver(() => setTimeout(weir.drawPlots, 30)).observe(document.documentElement, {
    attributeFilter: ["data-mantine-color-scheme"],
  });
})();
