/* What the feed brings is put on the page here. Two transports bring the same messages: push,
   and polling while push is silent. */
(function () {
  "use strict";
  const weir = (window.weir = window.weir || {});
  const KEEP_CURSOR_MS = 5000; // a new connection goes on from the one kept
  const REFRESH_EVERY_MS = 1500;
  const DRAWN_KEPT = 5000; // for whoever measures; of a thousand clusters that is a minute
  const TYPED_MS = 4000;
  const HELD_MOST_MS = 20000; // figures stand still meanwhile
  const MENUS = '[role="listbox"], [role="menu"]';
  const LARGE_TICK_MS = 1300;
  const empty = (...names) => names.map((name) => `[data-${name}]:empty`).join(", ");
  const DRAWN = empty("chart", "map", "overview", "qtable", "curve", "scatter");
  const PLOTTED = empty("matrix", "plot"); // by Plotly, which may be on its way
  const TEXTS = empty("until", "since", "time", "stamp", "live");

  const state = { cursor: null, number: 0, offset: 0, figures: {}, staleAfter: {} };
  let askedRefreshAt = 0;
  let redrawLater = false;
  let typedAt = 0;
  let heldSince = 0;
  let cursorKeptAt = 0;

  window.weirDrawn = [];
  weir.present = () => Date.now() + state.offset;
  weir.now = () => (weir.moment == null ? weir.present() : weir.moment);
  weir.cursor = () => state.cursor;

  /* -- a page has been drawn by the server */

  function page(data) {
    if (!data) return window.dash_clientside.no_update;
    if (!data.past) state.offset = data.now - Date.now();
    weir.enterPast(data.past);
    weir.link.heard();
    weir.models = {};
    weir.zoom(null);
    for (const chart of data.charts) weir.models[chart.key] = chart;
    weir.map = data.map;
    weir.overview = data.overview;
    if (data.figures) state.figures = data.figures;
    weir.takeRegions(data.regions);
    weir.takeBalance(data.balance);
    weir.takeScale(data.scale);
    weir.takeEvents(data.events, data.span);
    weir.markNav();
    weir.keepWindow();
    if (data.title) document.title = `${data.title} - Weir`;
    state.staleAfter = data.staleAfter;
    state.cursor = data.cursor;
    settle();
    return state.cursor;
  }

  function settle() {
    weir.figures.forget(); // what is drawn here is new to the observer too
    weir.bind();
    weir.drawMap();
    if (weir.drawOverview()) weir.figures.show(state.figures);
    plot();
    weir.drawScale();
    weir.fillRanges();
    tickTexts();
  }

  function plot() {
    weir.drawMatrices();
    weir.drawPlots();
  }

  /* -- a message has come */

  /* The text is the same for many tabs; how and when it was sent stands beside it. */
  function feed(text) {
    const { message, ...envelope } = JSON.parse(text);
    take({ ...message, ...envelope });
  }

  /* Where this tab stands. The server remembers what it sent; it needs this where it does not. */
  weir.keepCursor = function () {
    cursorKeptAt = Date.now();
    weir.send("cursor", { data: state.cursor });
  };

  function take(message) {
    const now = Date.now();
    state.offset = message.now - now;
    weir.link.heard(message);
    weir.link.banner();
    const cursor = state.cursor;
    if (!cursor || message.path !== cursor.path) return;
    weir.redrawWaits = Boolean(message.redraw) && held(now);
    if (message.redraw && !weir.redrawWaits) weir.refresh();
    if (!message.cursor || message.cursor.page !== cursor.page || message.drawn !== cursor.drawn) return;
    if (message.after && message.after !== state.number) return lost();
    if (message.number) state.number = message.number;
    if (message.live) state.figures = message.live;
    Object.assign(state.figures, message.liveChanges);
    put(message);
    state.cursor = { ...message.cursor, drawn: cursor.drawn, lost: cursor.lost };
    if (now - cursorKeptAt > KEEP_CURSOR_MS) weir.keepCursor();
    tickTexts();
  }

  /* Drawn again, a page would close an open menu and lose what is being typed. It waits for both,
     a while: as long as it waits, every message asks again. */
  function held(now) {
    const open = [...document.querySelectorAll(MENUS)].some((menu) => menu.getClientRects().length);
    const busy = open || now - typedAt < TYPED_MS;
    heldSince = busy ? heldSince || now : 0;
    return busy && now - heldSince < HELD_MOST_MS;
  }

  document.addEventListener("input", ({ target }) => {
    if (target.closest("#content")) typedAt = Date.now();
  });

  /* One before it was never seen here: where several come at once, Dash draws the last one alone.
     What it brought would be missing until it changes again, so the server hears where this tab
     really stands. */
  function lost() {
    state.cursor = { ...state.cursor, lost: Date.now() };
    weir.keepCursor();
  }

  /* What a message brings, onto the page; a replay brings the same. */
  function put(message) {
    if (message.live || message.liveChanges) weir.figures.show(message.live || message.liveChanges);
    weir.takeRegions(message.regions);
    if (message.regions) weir.figures.forget(); // an element may stand for another figure now
    if (message.map) weir.map = message.map;
    if (message.mapChanges) weir.changeMap(message.mapChanges);
    if (message.balance) weir.takeBalance(message.balance);
    if (message.scale) weir.takeScale(message.scale);
    if (message.events) weir.takeEvents(message.events, weir.span);
    for (const key in message.points || {}) weir.append(key, message.points[key]);
    if (document.hidden) redrawLater = true;
    else draw(message);
    if (weir.moment != null) tickTexts();
  }
  weir.put = put;

  function draw(message) {
    if (message.map || message.mapChanges) weir.drawMap();
    if (message.balance) weir.drawMatrices();
    if (message.scale) weir.drawScale();
    const seen = state.cursor.at;
    const fresh = (message.marks || []).filter(
      (mark) => Math.round(mark.at * 1000) > (seen[mark.cluster] || 0),
    );
    if (message.points) {
      weir.drawCharts(message.points);
      note(fresh);
    } else if (message.balance) weir.drawCharts(message.balance.events);
    if (message.events) weir.drawCharts();
  }

  function note(marks) {
    const drawnAt = Date.now();
    for (const mark of marks) window.weirDrawn.push({ ...mark, drawn_at_ms: drawnAt });
    if (window.weirDrawn.length > DRAWN_KEPT)
      window.weirDrawn.splice(0, window.weirDrawn.length - DRAWN_KEPT);
  }

  weir.refresh = function () {
    if (Date.now() - askedRefreshAt < REFRESH_EVERY_MS) return;
    askedRefreshAt = Date.now();
    weir.send("refresh", { data: askedRefreshAt });
  };

  let tickedAt = 0;
  function tickTexts() {
    tickedAt = Date.now();
    const seen = weir.moment == null ? state.cursor && state.cursor.at : weir.momentSeen;
    weir.texts.tick(weir.now(), seen || {}, state.staleAfter);
  }

  setInterval(() => {
    // A large page hears of something all the time and ticks with that: not twice a second.
    if (!weir.overview || Date.now() - tickedAt > LARGE_TICK_MS) tickTexts();
    if (document.querySelector(".is-stale")) weir.drawCharts();
  }, 1000);
  document.addEventListener("visibilitychange", () => {
    if (document.hidden || !redrawLater) return;
    redrawLater = false;
    weir.drawCharts();
    weir.drawMap();
    weir.drawMatrices();
    weir.drawScale();
  });
  new MutationObserver(() => {
    weir.figures.forget();
    if (document.querySelector(window.Plotly ? `${DRAWN}, ${PLOTTED}` : DRAWN)) settle();
    else if (document.querySelector(PLOTTED)) plot();
    if (document.querySelector(TEXTS)) {
      tickTexts();
      weir.figures.fill(state.figures);
    }
  }).observe(document.documentElement, { childList: true, subtree: true });

  new MutationObserver((changes) => {
    const text = changes[changes.length - 1].target.dataset.message;
    if (text) feed(text);
  }).observe(document.documentElement, { attributeFilter: ["data-message"], subtree: true });
  document.addEventListener("click", (event) => {
    if (event.target.closest && event.target.closest("[data-choose]")) weir.refresh();
  });

  window.dash_clientside = Object.assign({}, window.dash_clientside, {
    weir: {
      page,
      close: () => false,
      slide: (values) => values,
      address: (href) => {
        const at = href.indexOf("?");
        history.replaceState(history.state, "", location.pathname + (at < 0 ? "" : href.slice(at)));
        return Date.now();
      },
      times: (...local) => local.map((at) => (at ? new Date(at).getTime() / 1000 : null)),
    },
  });
})();
