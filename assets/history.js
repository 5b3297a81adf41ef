/* The History pages: plots that stand still, drawn by Plotly, and the upload of event logs. */
(function () {
  "use strict";
  const weir = (window.weir = window.weir || {});
  const PART_BYTES = 3 << 20;
  const CONFIG = { displayModeBar: false, responsive: true, doubleClick: "reset" };

  /* -- plots: each element carries what it shows */

  weir.drawPlots = function () {
    for (const element of document.querySelectorAll("[data-plot]")) {
      if (!element.dataset.model || !element.clientWidth) continue;
      const plot = JSON.parse(element.dataset.model);
      if (plot.kind === "scatter") Plotly.react(element, scatter(plot), scatterLayout(plot), CONFIG);
      else if (plot.kind === "bars") Plotly.react(element, bars(plot), barsLayout(plot), CONFIG);
      else Plotly.react(element, lines(plot), layout(plot), CONFIG);
    }
  };

  function duration(s) {
    const [h, m] = [Math.floor(s / 3600), Math.floor((s % 3600) / 60)];
    const rest = Math.round(s % 60);
    if (h) return `${h}:${String(m).padStart(2, "0")} h`;
    return m ? `${m}:${String(rest).padStart(2, "0")} min` : `${rest} s`;
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
    const grid = { gridcolor: weir.colour("grid"), zerolinecolor: weir.colour("grid"), linecolor: weir.colour("edge") };
    return {
      grid,
      base: {
        margin: { l: 46, r: 12, t: 8, b: 34 },
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

  function layout(plot) {
    const { grid, base } = common();
    const end = plot.x.length ? plot.x[plot.x.length - 1] : 1;
    const step = [10, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 28800, 86400].find((s) => end / s <= 6) || 172800;
    const ticks = [];
    for (let t = 0; t <= end; t += step) ticks.push(t);
    return {
      ...base,
      showlegend: false, // stands once above all plots
      hovermode: "x unified",
      xaxis: { ...grid, tickvals: ticks, ticktext: ticks.map(duration), showgrid: false, fixedrange: true },
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
               yanchor: "bottom", font: { size: 10.5, color: weir.colour("bad") } }],
    };
  }

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

  new MutationObserver(() => setTimeout(weir.drawPlots, 30)).observe(document.documentElement, {
    attributeFilter: ["data-mantine-color-scheme"],
  });

  /* -- upload: in parts, so that any size goes through with little memory */

  function csrf() {
    const config = JSON.parse(document.getElementById("_dash-config").textContent);
    const found = document.cookie.split("; ").find((c) => c.startsWith(config.csrf_token_name + "="));
    return found ? { [config.csrf_header_name]: found.split("=")[1] } : {};
  }

  function say(text, share, state) {
    const box = document.getElementById("upload-state");
    if (!box) return;
    box.hidden = false;
    box.dataset.state = state || "";
    weir.setText(document.getElementById("upload-text"), text);
    document.getElementById("upload-bar").style.width = (share * 100).toFixed(1) + "%";
  }

  async function post(path, body) {
    const answer = await fetch(path, { method: "POST", headers: csrf(), body });
    const said = await answer.json().catch(() => ({}));
    if (!answer.ok) throw new Error(said.error || `The server answered ${answer.status}.`);
    return said;
  }

  const megabytes = (bytes) => (bytes / 1e6).toFixed(bytes < 1e7 ? 1 : 0) + " MB";

  let uploading = false;
  async function upload(file) {
    if (uploading) return say("One file at a time: the one before is still on its way.", 0, "bad");
    uploading = true;
    try {
      const { job } = await post(`/api/import/begin?name=${encodeURIComponent(file.name)}&size=${file.size}`);
      for (let at = 0; at < file.size; at += PART_BYTES) {
        say(`Uploading ${file.name}: ${megabytes(at)} of ${megabytes(file.size)}`, (at / file.size) * 0.5);
        await post(`/api/import/part?job=${job}&at=${at}`, file.slice(at, at + PART_BYTES));
      }
      await post(`/api/import/done?job=${job}`);
      await follow(job, file);
    } catch (error) {
      say(error.message, 1, "bad");
    }
    uploading = false;
  }

  async function follow(job, file) {
    for (;;) {
      const answer = await fetch(`/api/import/status?job=${job}`);
      const status = await answer.json();
      if (!answer.ok) throw new Error(status.error);
      if (status.state === "failed") throw new Error(status.message);
      if (status.state === "done") {
        say(status.message, 1, "ok");
        window.dash_clientside.set_props("runs-imported", { data: Date.now() });
        return;
      }
      const share = status.size_bytes ? Math.min(status.done_bytes / status.size_bytes, 1) : 0;
      say(`Reading ${file.name}: ${Math.round(share * 100)} %`, 0.5 + share * 0.5);
      await new Promise((resolve) => setTimeout(resolve, 250));
    }
  }

  const picker = document.createElement("input");
  picker.type = "file";
  picker.onchange = () => {
    if (picker.files[0]) upload(picker.files[0]);
    picker.value = "";
  };
  document.addEventListener("click", (event) => {
    if (event.target.closest && event.target.closest("#upload-choose")) picker.click();
  });
  const over = (event) => event.target.closest && event.target.closest("#upload");
  document.addEventListener("dragover", (event) => {
    const box = over(event);
    if (box) event.preventDefault();
    for (const known of document.querySelectorAll("#upload")) known.classList.toggle("is-over", known === box);
  });
  document.addEventListener("drop", (event) => {
    const box = over(event);
    if (!box) return;
    event.preventDefault();
    box.classList.remove("is-over");
    if (event.dataTransfer.files[0]) upload(event.dataTransfer.files[0]);
  });
})();
