/* Is anybody there: says when server or Redis do not answer, polls while push is silent, and
   reloads where nothing else helps. */
(function () {
  "use strict";
  const weir = (window.weir = window.weir || {});
  const query = new URLSearchParams(location.search);
  const FORCED = query.get("feed") === "poll";
  const POLL_EVERY_MS = Math.max(250, Number(query.get("every")) || 1000);
  const PUSH_SILENT_MS = 5000; // then polling takes over
  const LOST_MS = 6000; // then the banner says that the server does not answer
  const STUCK_MS = 20000; // then, if the server is well, only a reload can help
  const STRAYED_MS = 3000;

  weir.cursor = () => null; // until the feed is there: scripts may take seconds to come
  const born = Date.now();
  const polling = { pending: false, sentAt: 0, dueAt: 0 };
  let lastAny = born;
  let lastPush = 0;
  let redisDown = null;

  /* A page or a message has come. */
  function heard(message) {
    lastAny = Date.now();
    if (!message) return;
    if (message.via === "push") lastPush = lastAny;
    else polling.pending = false;
    redisDown = message.redisDownSince || null;
  }

  function banner() {
    const element = document.getElementById("banner");
    const link = document.getElementById("link");
    if (!element || !link) return;
    const { words } = weir.texts;
    const silent = Date.now() - lastAny;
    const lost = silent > LOST_MS;
    let text = "";
    if (lost)
      text = `The web server has not answered for ${words(silent)}. The figures are the last ones known; trying again.`;
    else if (redisDown)
      text = `Redis cannot be reached for ${words(weir.present() - redisDown)}. The figures are the last ones known; this page goes on by itself when it is back.`;
    if (element.hidden !== !text) element.hidden = !text;
    weir.setText(element, text);
    const pushed = Date.now() - lastPush < PUSH_SILENT_MS;
    weir.setAttribute(link, "data-state", lost ? "bad" : redisDown ? "warn" : "ok");
    weir.setAttribute(link, "data-feed", pushed ? "push" : "poll");
    weir.setAttribute(link, "title", pushed ? "The server pushes every change" : "The page asks the server each second");
    const shown = lost ? "no connection" : redisDown ? "no data" : weir.moment != null ? "connected" : pushed ? "live" : "live, polling";
    if (weir.cursor()) weir.setText(document.getElementById("link-text"), shown);
  }

  function poll() {
    const now = Date.now();
    const silent = now - Math.max(lastPush, born) > PUSH_SILENT_MS;
    if (!weir.cursor() || !(FORCED || silent)) return;
    if (polling.pending && now - polling.sentAt < 5000) return;
    if (now < polling.dueAt) return;
    polling.pending = true;
    polling.sentAt = now;
    polling.dueAt = now + POLL_EVERY_MS;
    weir.keepCursor();
    weir.send("poll", { data: now });
  }

  let healthAskedAt = 0;
  function watch() {
    const now = Date.now();
    if (now - lastAny < STUCK_MS || now - healthAskedAt < 5000) return;
    healthAskedAt = now;
    fetch("/health", { cache: "no-store" }).then(
      () => {
        const before = Number(sessionStorage.getItem("weir-reloaded")) || 0;
        if (Date.now() - lastAny < STUCK_MS || Date.now() - before < 60e3) return;
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
    const cursor = weir.cursor();
    if (!cursor || decodeURI(cursor.path) === path) strayedAt = 0;
    else if (!strayedAt) strayedAt = Date.now();
    else if (Date.now() - strayedAt > STRAYED_MS) {
      strayedAt = 0;
      weir.refresh();
    }
  }

  setInterval(() => {
    if (!window.dash_clientside || !window.dash_clientside.set_props) return;
    poll();
  }, 125);
  setInterval(() => {
    banner();
    watch();
    stray();
  }, 1000);

  weir.link = { banner, heard };
})();
