/* The arithmetic of a chart: axes, paths, and finding a point. Nothing here touches the page. */
(function () {
  "use strict";
  const weir = (window.weir = window.weir || {});

  function number(value) {
    const size = Math.abs(value);
    if (size >= 1e6) return trim(value / 1e6, 1) + " M";
    if (size >= 1e4) return trim(value / 1e3, 1) + " k";
    if (size >= 100) return Math.round(value).toLocaleString("en");
    if (size >= 10) return trim(value, 1);
    return trim(value, 2);
  }
  function trim(value, digits) {
    return String(Math.round(value * 10 ** digits) / 10 ** digits);
  }

  /* Steps that people count in (1, 2, 2.5 or 5 times a power of ten), and a top
     on one of them where that wastes little room. */
  function scale(top, whole) {
    const rough = top / 3.4;
    const power = 10 ** Math.floor(Math.log10(rough));
    let step = [1, 2, 2.5, 5, 10].map((f) => f * power).find((s) => s >= rough * 0.999);
    if (whole) step = Math.max(1, Math.ceil(step));
    const full = Math.ceil((top - step * 0.02) / step) * step;
    return { top: full <= top * 1.25 ? full : top, step };
  }

  function timeStep(span, width) {
    const room = Math.max(2, Math.floor(width / 58));
    return [15, 30, 60, 120, 180, 300, 600].map((s) => s * 1000).find((s) => span / s <= room) || 900e3;
  }

  function nearest(x, time) {
    let low = 0;
    let high = x.length - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (x[middle] < time) low = middle + 1;
      else high = middle;
    }
    return low > 0 && time - x[low - 1] < x[low] - time ? low - 1 : low;
  }

  /* A line and the area under it; a value that is missing, or a long silence, is a gap. */
  function paths(x, y, lower, from, px, py, h, stepped) {
    const gap = 4 * typicalStep(x);
    const runs = [];
    let run = null;
    for (let i = from; i < x.length; i++) {
      if (y[i] == null || (run && x[i] - x[i - 1] > gap)) run = null;
      if (y[i] == null) continue;
      if (!run) runs.push((run = []));
      run.push(i);
    }
    let line = "";
    let fill = "";
    const f = (n) => n.toFixed(1);
    for (const indices of runs) {
      let d = "";
      indices.forEach((i, k) => {
        const point = f(px(x[i])) + " " + f(py(y[i]));
        if (!k) d += "M" + point;
        else d += (stepped ? "H" + f(px(x[i])) + "V" + f(py(y[i])) : "L" + point);
      });
      line += d + (indices.length === 1 ? "h0.1" : "");
      const first = indices[0];
      const last = indices[indices.length - 1];
      if (lower) {
        fill += d;
        for (let k = indices.length - 1; k >= 0; k--)
          fill += "L" + f(px(x[indices[k]])) + " " + f(py(lower[indices[k]] || 0));
        fill += "Z";
      } else fill += d + "L" + f(px(x[last])) + " " + h + "L" + f(px(x[first])) + " " + h + "Z";
    }
    return [line, fill];
  }

  function typicalStep(x) {
    if (x.length < 3) return Infinity;
    const tail = x.slice(-20);
    const steps = tail.slice(1).map((t, i) => t - tail[i]);
    return steps.sort((a, b) => a - b)[steps.length >> 1];
  }

  /* What a chart says to somebody who does not see it: each line's last value and its reach. */
  function summary({ x, y, traces, unit }, start) {
    const from = x.findIndex((t) => t >= start);
    const parts = traces.map((trace, k) => {
      const values = from < 0 ? [] : y[k].slice(from).filter((value) => value != null);
      if (!values.length) return `${trace.name} not measured`;
      const its = trace.unit || unit;
      const words = (value) => number(value) + (its ? " " + its : "");
      const reach = `${words(Math.min(...values))} to ${words(Math.max(...values))}`;
      return `${trace.name} ${words(values[values.length - 1])} now, ${reach}`;
    });
    return parts.join("; ");
  }

  weir.math = { nearest, number, paths, scale, summary, timeStep };
})();
