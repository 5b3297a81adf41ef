/* Plotly takes longer to load than all else together, so it comes with the first thing that is
   drawn with it. */
(function () {
  "use strict";
  const weir = (window.weir = window.weir || {});
  const waiting = new Set();
  let script = null;

  /* Draw with Plotly: at once where it is there, else when it has come, each function once. */
  weir.withPlotly = function (draw) {
    if (window.Plotly) {
      draw();
      return;
    }
    waiting.add(draw);
    if (script) return;
    script = document.createElement("script");
    script.src = "/vendor/plotly.min.js";
    script.onload = () => {
      for (const drawn of waiting) drawn();
      waiting.clear();
    };
    script.onerror = () => {
      script.remove();
      script = null; // the next one who draws tries again
    };
    document.head.append(script);
  };
})();
