/* Any chart, large: zoomed and moved with Plotly, read exactly, saved as a picture or as CSV. */
(function () {
  "use strict";
  const weir = (window.weir = window.weir || {});
  let shown = null; // the key of the live chart that is open, or the plot itself

  /* The lines of a plot as CSV: a row per moment and line. */
  weir.csvOf = function (plot) {
    // No spreadsheet takes a cell for a formula (OWASP, CSV injection).
    const safe = (text) => (/^[=+\-@\t\r]/.test(text) ? `'${text}` : text);
    const quoted = (text) => (/[",\n]/.test(text) ? `"${safe(text).replace(/"/g, '""')}"` : safe(text));
    const timed = plot.kind === "times";
    const first = timed ? "time" : plot.xTitle || "seconds since the start";
    const what = plot.yTitle || plot.title + (plot.unit ? ` (${plot.unit})` : "");
    const rows = (plot.lines || plot.groups || []).flatMap((line) =>
      (line.x || plot.x)
        .map((x, i) => [x, line.y[i]])
        .filter(([, y]) => y !== null)
        .map(([x, y]) => `${timed ? new Date(x).toISOString() : quoted(String(x))},${quoted(line.name)},${y}`),
    );
    return [[first, plot.whose || "line", what].map(quoted).join(","), ...rows].join("\n") + "\n";
  };

  weir.saveCsv = function (plot, name) {
    const url = URL.createObjectURL(new Blob([weir.csvOf(plot)], { type: "text/csv" }));
    save(url, `${name}.csv`);
    URL.revokeObjectURL(url);
  };

  function save(url, name) {
    const link = document.createElement("a");
    link.href = url;
    link.download = name;
    link.click();
  }

  /* Plotly's own way to a picture goes through a blob, which the page may not load as one. */
  weir.savePicture = async function (element, name) {
    const [width, height] = [1600, 700];
    const image = new Image();
    image.src = await Plotly.toImage(element, { format: "svg", width, height });
    await image.decode();
    const canvas = document.createElement("canvas");
    Object.assign(canvas, { width, height });
    const context = canvas.getContext("2d");
    context.fillStyle = weir.colour("surface");
    context.fillRect(0, 0, width, height);
    context.drawImage(image, 0, 0);
    save(canvas.toDataURL("image/png"), `${name}.png`);
  };

  /* A live chart as a plot over the time of day. */
  weir.plotOf = function (model) {
    const x = model.x;
    return {
      kind: "times",
      title: model.title,
      unit: model.unit,
      span: weir.zoomed || (x.length ? [x[0], x[x.length - 1]] : [weir.now() - 60e3, weir.now()]),
      limit: model.lineRight ? null : model.line,
      limitLabel: model.lineLabel,
      lines: model.traces.map((trace, i) => ({
        name: trace.name,
        colour: trace.colour,
        dashed: trace.dashed,
        step: trace.style === "step",
        stack: trace.style === "stack",
        right: !!trace.right,
        unit: trace.unit,
        x: x.slice(),
        y: model.y[i].slice(),
      })),
    };
  };

  const current = () => (typeof shown === "string" ? weir.models[shown] && weir.plotOf(weir.models[shown]) : shown);
  const place = () => document.querySelector("#large .large-plot");
  const fileName = (plot) => `weir-${plot.title.toLowerCase().replace(/[^a-z0-9]+/g, "-")}`;

  function box() {
    const found = document.getElementById("large");
    if (found) return found;
    const made = document.createElement("dialog");
    made.id = "large";
    made.className = "large";
    made.setAttribute("aria-labelledby", "large-title");
    made.innerHTML =
      '<div class="card-head"><h2 id="large-title"></h2><div class="card-actions">' +
      '<button class="button" type="button" data-large-do="csv">Save as CSV</button>' +
      '<button class="button" type="button" data-large-do="picture">Save as picture</button>' +
      '<button class="button" type="button" data-large-do="close">Close</button></div></div>' +
      '<div class="large-plot hplot" role="group" aria-labelledby="large-title"></div>' +
      '<p class="quiet">Drag to zoom, double-click to see all; point at a line for its exact values.</p>';
    made.addEventListener("close", () => {
      if (window.Plotly) Plotly.purge(place());
      shown = null;
    });
    made.addEventListener("click", (event) => {
      const action = event.target.closest("[data-large-do]");
      if (!action) return;
      const plot = current();
      if (action.dataset.largeDo === "close" || !plot) made.close();
      else if (action.dataset.largeDo === "csv") weir.saveCsv(plot, fileName(plot));
      else weir.savePicture(place(), fileName(plot));
    });
    return document.body.appendChild(made);
  }

  function draw() {
    const plot = current();
    if (!plot || !place().clientWidth) return;
    weir.plotInto(place(), plot, true);
  }

  weir.openLarge = function (what, title) {
    shown = what;
    const made = box();
    weir.setText(made.querySelector("h2"), title);
    made.showModal();
    weir.withPlotly(draw);
  };

  /* New points have come. */
  weir.redrawLarge = function (points) {
    if (typeof shown === "string" && window.Plotly && (!points || shown in points)) draw();
  };

  document.addEventListener("click", (event) => {
    const button = event.target.closest && event.target.closest("[data-large]");
    if (!button) return;
    const title = button.getAttribute("data-large-title");
    if (weir.models[button.dataset.large]) return weir.openLarge(button.dataset.large, title);
    const plot = button.closest(".tile").querySelector("[data-plot]");
    if (plot) weir.openLarge(JSON.parse(plot.dataset.model), title);
  });
})();
