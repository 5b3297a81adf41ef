/* Large scripts that come with the first thing that needs them: Plotly takes longer to load than
   all else together, and most pages draw neither with it nor a graph. */
(function () {
  "use strict";
  const weir = (window.weir = window.weir || {});
  const waiting = {}; // address -> functions to call when it has come

  /* Call that when the script is there; each function once. */
  function withScript(src, then) {
    const begun = src in waiting;
    (waiting[src] = waiting[src] || new Set()).add(then);
    if (begun) return;
    const script = document.createElement("script");
    script.src = src;
    script.onload = () => {
      const called = waiting[src];
      delete waiting[src];
      for (const each of called) each();
    };
    script.onerror = () => {
      script.remove();
      delete waiting[src]; // the next one who needs it tries again
    };
    document.head.append(script);
  }

  /* Draw with Plotly: at once where it is there, else when it has come. */
  weir.withPlotly = function (draw) {
    if (window.Plotly) draw();
    else withScript("/vendor/plotly.min.js", draw);
  };

  /* A component of Dash that is empty until its script has come, which brings the real one. */
  function late(namespace, type, src) {
    function Late(props) {
      const [, shown] = window.React.useState(false);
      const real = window[namespace][type];
      window.React.useEffect(() => {
        if (real === Late) withScript(src, () => shown(true));
      }, [real]);
      return real === Late ? null : window.React.createElement(real, props);
    }
    window[namespace] = { [type]: Late };
  }

  late("dash_cytoscape", "Cytoscape", "/vendor/cytoscape.min.js");
})();
