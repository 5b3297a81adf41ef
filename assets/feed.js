/* What the feed brings is put on the page here. Two transports bring the same
   messages: push, and polling while push is silent. Whatever happens to server,
   Redis or network, the page says so and goes on by itself. */
(function () {
  "use strict";
  const weir = (window.weir = window.weir || {});
  const query = new URLSearchParams(location.search);
  const FORCED = query.get("feed") === "poll";
  const POLL_EVERY_MS = Math.max(250, Number(query.get("every")) || 1000);
  const PUSH_SILENT_MS = 5000; // then polling takes over
  const LOST_MS = 6000; // then the banner says that the server does not answer
  const STUCK_MS = 20000; // then, if the server is well, only a reload can help
  const KEEP_CURSOR_MS = 5000; // a connection that begins anew goes on from the one kept
  const DRAWN_KEPT = 500;
  const LARGE_TICK_MS = 1300;

  const born = Date.now();
  const state = { cursor: null, offset: 0, lastAny: born, lastPush: 0, redisDown: null, figures: {} };
  const polling = { pending: false, sentAt: 0, dueAt: 0 };
  let staleAfter = {};
  let askedRefreshAt = 0;
  let redrawLater = false;
  let places = null; // key -> where that figure stands; null: elements have come or gone
  let cursorKeptAt = 0;

  window.weirDrawn = [];
  const present = () => Date.now() + state.offset;
  weir.now = () => (weir.moment == null ? present() : weir.moment);

  function send(id, props) {
    window.dash_clientside.set_props(id, props);
  }

  /* The text itself is changed, not its node: whoever watches for new elements is not woken. */
  weir.setText = function (element, text) {
    const node = element.firstChild;
    if (node && node.nodeType === Node.TEXT_NODE && !node.nextSibling) {
      if (node.data !== text) node.data = text;
    } else if (element.textContent !== text) element.textContent = text;
  };

  /* The same value once more would be a change to style and lay out. */
  function attribute(element, name, value) {
    if (element.getAttribute(name) !== value) element.setAttribute(name, value);
  }

  /* -- a page has been drawn by the server */

  function page(data) {
    if (!data) return window.dash_clientside.no_update;
    if (!data.past) state.offset = data.now - Date.now();
    weir.enterPast(data.past);
    state.lastAny = Date.now();
    weir.models = {};
    for (const chart of data.charts) weir.models[chart.key] = chart;
    weir.map = data.map;
    weir.overview = data.overview;
    if (data.figures) state.figures = data.figures;
    weir.takeRegions(data.regions);
    weir.takeBalance(data.balance);
    weir.takeScale(data.scale);
    weir.takeEvents(data.events, data.span);
    weir.markNav();
    staleAfter = data.staleAfter;
    state.cursor = data.cursor;
    settle();
    return state.cursor;
  }

  function settle() {
    places = null; // what is drawn here is new to the observer too
    weir.bind();
    weir.drawMap();
    if (weir.drawOverview()) figures(state.figures);
    weir.drawMatrices();
    weir.drawScale();
    weir.drawPlots();
    tickTexts();
  }

  /* -- a message has come */

  /* The text is the same for many tabs; how and when it was sent stands beside it. */
  function feed(text) {
    const { via, now, drawn, message } = JSON.parse(text);
    take({ ...message, via, now, drawn });
  }

  /* Where this tab stands. The server remembers what it sent; it needs this where it does not. */
  function keepCursor() {
    cursorKeptAt = Date.now();
    send("cursor", { data: state.cursor });
  }

  function take(message) {
    const now = Date.now();
    state.lastAny = now;
    if (message.via === "push") state.lastPush = now;
    else polling.pending = false;
    state.offset = message.now - now;
    state.redisDown = message.redisDownSince || null;
    banner();
    const cursor = state.cursor;
    if (!cursor || message.path !== cursor.path) return;
    if (message.redraw) refresh();
    if (!message.cursor || message.cursor.page !== cursor.page || message.drawn !== cursor.drawn) return;
    if (message.live) state.figures = message.live;
    Object.assign(state.figures, message.liveChanges);
    put(message);
    state.cursor = { ...message.cursor, drawn: cursor.drawn };
    if (now - cursorKeptAt > KEEP_CURSOR_MS) keepCursor();
    tickTexts();
  }

  /* What a message brings, onto the page; a replay brings the same. */
  function put(message) {
    if (message.live || message.liveChanges) figures(message.live || message.liveChanges);
    weir.takeRegions(message.regions);
    if (message.regions) places = null; // an element may stand for another figure now
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
    if (message.map || message.mapChanges) weir.drawMap(message.mapChanges);
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

  /* Once over the page: to look for every key by itself takes seconds where there are many. */
  function placesNow() {
    if (places) return places;
    places = new Map();
    const at = (key) => places.get(key) || places.set(key, { texts: [], bars: [] }).get(key);
    for (const element of document.querySelectorAll("[data-live]")) at(element.dataset.live).texts.push(element);
    for (const bar of document.querySelectorAll("[data-bar]")) at(bar.dataset.bar).bars.push(bar);
    return places;
  }

  function figures(found) {
    const known = placesNow();
    for (const key in found) {
      const place = known.get(key);
      if (!place) continue;
      const [text, mood, fill] = found[key];
      for (const element of place.texts) {
        if (element.dataset.sets && element.textContent !== text) follow(element, Number(text));
        if (element.dataset.keep !== "text") weir.setText(element, text);
        attribute(element, "data-state", mood || "");
      }
      if (fill != null) for (const bar of place.bars) bar.style.width = (fill * 100).toFixed(1) + "%";
    }
    weir.filterOverview();
  }

  /* A control that somebody else has set; not while a person is about to set it here. */
  function follow(element, value) {
    if (!element.parentElement.contains(document.activeElement))
      send(JSON.parse(element.dataset.sets), { value });
  }

  function refresh() {
    if (Date.now() - askedRefreshAt < 1500) return;
    askedRefreshAt = Date.now();
    send("refresh", { data: askedRefreshAt });
  }

  /* -- texts that age */

  function words(ms) {
    const s = Math.max(0, Math.round(ms / 1000));
    if (s < 120) return s + " s";
    return s < 7200 ? Math.round(s / 60) + " min" : Math.round(s / 3600) + " h";
  }

  /* Counts down second by second, also over minutes. */
  function left(ms) {
    const s = Math.max(0, Math.round(ms / 1000));
    if (s < 60 || s >= 3600) return words(ms);
    return `${Math.floor(s / 60)}:${String(s % 60).padStart(2, "0")} min`;
  }

  /* The day too, unless it is today. */
  const days = new Intl.DateTimeFormat([], { day: "numeric", month: "short", year: "numeric" });
  function stamp(ms, now) {
    const day = days.format(ms);
    return (day === days.format(now) ? "" : day + ", ") + weir.clock(ms, true);
  }

  /* What has just been drawn without its texts: ages, times, and figures of the feed. */
  function fillTexts() {
    tickTexts();
    const empty = {};
    for (const element of document.querySelectorAll("[data-live]:empty")) {
      const known = state.figures[element.dataset.live];
      if (known && known[0]) empty[element.dataset.live] = known;
    }
    if (Object.keys(empty).length) figures(empty);
  }

  const TICKING = {
    since: (at, now) => words(now - at),
    until: (at, now) => left(at - now),
    time: (at) => weir.clock(at, true),
    stamp,
  };

  let tickedAt = 0;
  function tickTexts() {
    tickedAt = Date.now();
    const now = weir.now();
    for (const name in TICKING)
      for (const element of document.querySelectorAll(`[data-${name}]`))
        weir.setText(element, TICKING[name](Number(element.dataset[name]), now));
    const at = (weir.moment == null ? state.cursor && state.cursor.at : weir.momentSeen) || {};
    for (const element of document.querySelectorAll("[data-age-of]")) {
      const name = element.dataset.ageOf;
      const age = now - (at[name] || 0);
      const stale = age > (staleAfter[name] || 6000);
      weir.setText(element, stale ? "no data for " + words(age) : weir.moment == null ? "live" : "recorded");
      attribute(element, "data-state", stale ? "bad" : "ok");
      const panel = element.closest("[data-cluster]");
      if (panel) panel.classList.toggle("is-stale", stale);
    }
  }

  /* -- is anybody there */

  function banner() {
    const element = document.getElementById("banner");
    const link = document.getElementById("link");
    if (!element || !link) return;
    const lost = Date.now() - state.lastAny > LOST_MS;
    let text = "";
    if (lost)
      text = `The web server has not answered for ${words(Date.now() - state.lastAny)}. The figures are the last ones known; trying again.`;
    else if (state.redisDown)
      text = `Redis cannot be reached for ${words(present() - state.redisDown)}. The figures are the last ones known; this page goes on by itself when it is back.`;
    if (element.hidden !== !text) element.hidden = !text;
    weir.setText(element, text);
    const pushed = Date.now() - state.lastPush < PUSH_SILENT_MS;
    const mood = lost ? "bad" : state.redisDown ? "warn" : "ok";
    attribute(link, "data-state", mood);
    attribute(link, "data-feed", pushed ? "push" : "poll");
    attribute(link, "title", pushed ? "The server pushes every change" : "The page asks the server each second");
    const shown = lost ? "no connection" : state.redisDown ? "no data" : weir.moment != null ? "connected" : pushed ? "live" : "live, polling";
    if (state.cursor) weir.setText(document.getElementById("link-text"), shown);
  }

  function poll() {
    const now = Date.now();
    const silent = now - Math.max(state.lastPush, born) > PUSH_SILENT_MS;
    if (!state.cursor || !(FORCED || silent)) return;
    if (polling.pending && now - polling.sentAt < 5000) return;
    if (now < polling.dueAt) return;
    polling.pending = true;
    polling.sentAt = now;
    polling.dueAt = now + POLL_EVERY_MS;
    keepCursor();
    send("poll", { data: now });
  }

  let healthAskedAt = 0;
  function watch() {
    const now = Date.now();
    if (now - state.lastAny < STUCK_MS || now - healthAskedAt < 5000) return;
    healthAskedAt = now;
    fetch("/health", { cache: "no-store" }).then(
      () => {
        const before = Number(sessionStorage.getItem("weir-reloaded")) || 0;
        if (Date.now() - state.lastAny < STUCK_MS || Date.now() - before < 60e3) return;
        sessionStorage.setItem("weir-reloaded", Date.now());
        location.reload();
      },
      () => {},
    );
  }

  /* An address whose page never came, because the server was away: ask again. */
  let strayedAt = 0;
  function stray() {
    const path = decodeURI(location.pathname);
    if (!state.cursor || decodeURI(state.cursor.path) === path) strayedAt = 0;
    else if (!strayedAt) strayedAt = Date.now();
    else if (Date.now() - strayedAt > 3000) {
      strayedAt = 0;
      refresh();
    }
  }

  setInterval(() => {
    if (!window.dash_clientside || !window.dash_clientside.set_props) return;
    poll();
  }, 125);
  setInterval(() => {
    // A large page hears of something all the time and ticks with that: not twice a second.
    if (!weir.overview || Date.now() - tickedAt > LARGE_TICK_MS) tickTexts();
    banner();
    watch();
    stray();
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
    places = null;
    if (document.querySelector("[data-chart]:empty, [data-map]:empty, [data-overview]:empty, [data-matrix]:empty, [data-qtable]:empty, [data-plot]:empty, [data-curve]:empty, [data-scatter]:empty")) settle();
    if (document.querySelector("[data-until]:empty, [data-since]:empty, [data-time]:empty, [data-stamp]:empty, [data-live]:empty")) fillTexts();
  }).observe(document.documentElement, { childList: true, subtree: true });

  new MutationObserver((changes) => {
    const text = changes[changes.length - 1].target.dataset.message;
    if (text) feed(text);
  }).observe(document.documentElement, { attributeFilter: ["data-message"], subtree: true });
  document.addEventListener("click", (event) => {
    if (event.target.closest && event.target.closest("[data-choose]")) refresh();
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
