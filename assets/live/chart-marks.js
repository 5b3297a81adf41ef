/* Marks on the series: what was done to a cluster and when. Hovering says what it was, a
   click (or Enter, where the arrow keys have led to it) opens the page that tells more. */
(function () {
  "use strict";
  const weir = (window.weir = window.weir || {});
  const NEAR_PX = 9; // so close to a mark, the pointer means it
  let events = {}; // cluster -> what was done there

  weir.span = null; // from and to, where the page is about a time that is over
  weir.marked = null; // the mark that the crosshair is on

  weir.takeEvents = function (found, span) {
    events = found || {};
    weir.span = span || null;
  };

  /* Those of a chart that lie in the time shown. */
  function shown(chart) {
    const { model, start, end } = chart;
    const all = [...(model.events || []), ...(events[model.cluster] || [])];
    return all.filter((mark) => mark.at >= start && mark.at <= end);
  }

  /* The mark at a place, rather one that leads somewhere. */
  function at(chart, x) {
    if (chart.start == null) return null;
    const off = (mark) => Math.abs(chart.px(mark.at) - x);
    const near = shown(chart).filter((mark) => off(mark) <= NEAR_PX);
    return near.sort((a, b) => !a.href - !b.href || off(a) - off(b))[0] || null;
  }

  function words(mark) {
    return `${weir.clock(mark.at, true)} ${mark.text}`;
  }

  /* A line with a shape on top, `left` and `top` pixels into the drawing. */
  function draw(chart, left, top, height) {
    return shown(chart)
      .map((mark) => {
        const x = left + chart.px(mark.at);
        return (
          `<line x1="${x}" x2="${x}" y1="${top + 4}" y2="${top + height}"/>` +
          `<text x="${x}" y="${top + 4}">${mark.shape || "◆"}<title>${weir.escape(words(mark))}</title></text>`
        );
      })
      .join("");
  }

  function tip() {
    const mark = weir.marked;
    if (!mark) return "";
    const more = mark.href ? "<small>click or Enter for more</small>" : "";
    return `<p>${weir.escape(`${mark.shape || "◆"} ${words(mark)}`)}</p>${more}`;
  }

  function open(mark) {
    if (mark && mark.href) weir.go(mark.href);
  }

  weir.marks = { at, draw, open, tip };
})();
