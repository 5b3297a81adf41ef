/* Correlation matrices, drawn by Plotly: rows and columns are names, a cell is Pearson's
   rho from -1 to 1. The server sends the values and the words; here they become colours. */
(function () {
  "use strict";
  const weir = (window.weir = window.weir || {});
  const CONFIG = { displayModeBar: false, responsive: false, doubleClick: false };
  const LEAST_CELL_PX = 30; // narrower cells have no room for their figure
  const NAME_MOST = 14;
  const NAME_PX = 13; // what a name takes of its axis
  const models = {};

  /* All that the Balance page draws besides its series. */
  weir.takeBalance = function (balance) {
    if (!balance) return;
    for (const model of balance.matrices) models[model.key] = model;
    for (const key in balance.events)
      if (weir.models[key]) weir.models[key].events = balance.events[key];
  };

  weir.drawMatrices = function () {
    if (document.querySelector("[data-matrix]")) weir.withPlotly(draw);
  };

  function draw() {
    for (const element of document.querySelectorAll("[data-matrix]")) {
      const model = models[element.dataset.matrix];
      if (!model || !element.clientWidth) continue;
      if (!element.weirListens) listen(element);
      Plotly.react(element, [trace(model, element)], layout(model, element), CONFIG).then(() => speak(element));
    }
  }

  function signed(rho) {
    if (rho === null) return "?";
    return (rho < 0 ? "−" : "") + Math.abs(rho).toFixed(2);
  }

  function words(model, rho) {
    const band = model.bands.find(([least]) => rho >= least);
    return (band || model.bands[model.bands.length - 1])[1];
  }

  /* How much a figure rests on; without one there were too few periods. */
  function rests(model, rho, r, c) {
    const periods = model.periods.length ? model.periods[r][c] : null;
    if (rho === null) return "too few periods to compare yet";
    const over = periods === null ? "" : `, over ${periods} periods`;
    return `${signed(rho)}: ${words(model, rho)}${over}`;
  }

  /* Both names and what the figure means. */
  function hover(model) {
    const own = new Set(model.own.map(([row, column]) => row + "/" + column));
    return model.values.map((line, r) =>
      line.map((rho, c) => {
        const [a, b] = [model.rows[r], model.columns[c]];
        if (a === b) return `<b>${a}</b> with itself`;
        const other = own.has(r + "/" + c) ? `the rest of <b>${b}</b>` : `<b>${b}</b>`;
        return `<b>${a}</b> and ${other}<br>${rests(model, rho, r, c)}`;
      }),
    );
  }

  function trace(model, element) {
    const room = (element.clientWidth - 110) / Math.max(model.columns.length, 1);
    const printed = room >= LEAST_CELL_PX;
    return {
      type: "heatmap",
      z: model.values,
      x: model.columns.map((_, i) => i),
      y: model.rows.map((_, i) => i),
      zmin: -1,
      zmax: 1,
      zmid: 0,
      showscale: false,
      xgap: 2,
      ygap: 2,
      colorscale: [
        [0, weir.colour("rho-minus")],
        [0.5, weir.colour("rho-none")],
        [1, weir.colour("rho-plus")],
      ],
      text: model.values.map((line) => line.map(signed)),
      texttemplate: printed ? "%{text}" : "",
      textfont: { size: 12 },
      hovertext: hover(model),
      hoverongaps: true,
      hovertemplate: "%{hovertext}<extra></extra>",
    };
  }

  /* Names as far as there is room: of more, each second, third or further one. */
  function axis(names, size, more) {
    const every = Math.max(1, Math.ceil((names.length * NAME_PX) / Math.max(size, NAME_PX)));
    const shown = names.map((_, i) => i).filter((i) => i % every === 0);
    return {
      tickvals: shown,
      ticktext: shown.map((i) => weir.cut(names[i], NAME_MOST)),
      fixedrange: true,
      showgrid: false,
      zeroline: false,
      ticks: "outside",
      ticklen: 5,
      tickcolor: "rgba(0,0,0,0)",
      automargin: true,
      ...more,
    };
  }

  function layout(model, element) {
    return {
      margin: { l: 8, r: 4, t: 4, b: 8 },
      paper_bgcolor: "rgba(0,0,0,0)",
      plot_bgcolor: "rgba(0,0,0,0)",
      font: {
        family: getComputedStyle(document.body).fontFamily,
        size: 12,
        color: weir.colour("quiet"),
      },
      hoverlabel: {
        bgcolor: weir.colour("surface"),
        bordercolor: weir.colour("edge-strong"),
        font: { color: weir.colour("text"), size: 12 },
        align: "left",
      },
      xaxis: axis(model.columns, element.clientWidth - 110, { side: "bottom", tickangle: model.columns.length > 3 ? -35 : 0 }),
      yaxis: axis(model.rows, element.clientHeight - 70, { autorange: "reversed" }),
      shapes: model.own.map(([row, column]) => ({
        type: "rect",
        x0: column - 0.47,
        x1: column + 0.47,
        y0: row - 0.45,
        y1: row + 0.45,
        line: { color: weir.colour("text"), width: 1.6 },
      })),
    };
  }

  /* Arrow keys walk from cell to cell, as the pointer does. */
  const STEPS = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };
  function listen(element) {
    element.weirListens = true;
    resized.observe(element);
    element.addEventListener("keydown", (event) => {
      const step = STEPS[event.key];
      const model = models[element.dataset.matrix];
      if (!step || !model || !model.rows.length) return;
      event.preventDefault();
      const [row, column] = element.weirAt || [-step[0], -step[1]];
      element.weirAt = [
        Math.min(Math.max(row + step[0], 0), model.rows.length - 1),
        Math.min(Math.max(column + step[1], 0), model.columns.length - 1),
      ];
      speak(element);
    });
    element.addEventListener("blur", () => {
      element.weirAt = null;
      if (element.data) Plotly.Fx.unhover(element);
    });
  }

  /* The words of the cell that the keyboard is at; new figures and sizes keep it open. */
  function speak(element) {
    if (!element.weirAt) return;
    const [yval, xval] = element.weirAt;
    Plotly.Fx.hover(element, { xval, yval }, "xy");
  }

  const resized = new ResizeObserver((entries) => {
    for (const { target } of entries)
      if (target.data && target.clientWidth) Plotly.Plots.resize(target).then(() => speak(target));
  });
})();
