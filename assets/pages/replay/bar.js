/* Replay: the page at any moment of a recorded run. The bar moves at once; the page follows
   with one request at a time, always for the newest moment asked for, so a quick hand on the
   bar never queues up work. Points that the page has are not sent again while it plays on. */
(function () {
  "use strict";
  const weir = (window.weir = window.weir || {});
  const FRAME_MS = 180; // at most five pages a second
  const ADVICE_AFTER_MS = 350;
  const JUMP_MS = 10 * 60e3; // further than this, all points are new
  const TIMES_KEPT = 300;

  const past = { run: null, path: "/", page: "", at: 0, shown: 0, playing: false, speed: 1 };
  let timeline = null;
  let busy = false;
  let wanted = null; // {at, since}
  let askedAt = 0;
  let adviceAt = null;

  weir.moment = null; // what the page shows, in ms; null: the present
  weir.momentSeen = {};
  window.weirScrubs = []; // ms from a hand's movement to the page drawn anew

  const byId = (id) => document.getElementById(id);
  const clamp = (at) => Math.min(Math.max(at, first()), last());
  const first = () => (timeline ? timeline.first_at * 1000 : -Infinity);
  const last = () => (timeline ? timeline.last_at * 1000 : Infinity);
  const period = () => (timeline ? timeline.period_s * 1000 : 1000);

  function base() {
    return "/replay/" + encodeURIComponent(past.run);
  }

  function address(path) {
    return base() + (path === "/" ? "" : path);
  }

  /* -- a page was drawn by the server: of the past, or of the present */

  weir.enterPast = function (data) {
    const bar = byId("replay");
    if (!bar) return;
    bar.hidden = !data;
    document.body.classList.toggle("is-past", Boolean(data));
    if (!data) {
      Object.assign(past, { run: null, playing: false });
      weir.moment = null;
      wanted = null;
      return;
    }
    const other = past.run !== data.run;
    const asked = other ? data.at : past.at;
    Object.assign(past, { run: data.run, path: data.path, page: data.page, shown: data.at });
    past.at = asked;
    weir.moment = data.at;
    weir.momentSeen = data.seen;
    if (other) {
      past.playing = false;
      timeline = null;
      load();
    } else if (past.arrived) past.at = data.at;
    past.arrived = false;
    paint();
    links();
    advise();
    busy = false;
    if (past.at !== past.shown) go(past.at);
  };

  async function load() {
    const run = past.run;
    const answer = await fetch(`/api/replay/${encodeURIComponent(run)}/timeline`);
    if (!answer.ok || past.run !== run) return;
    timeline = await answer.json();
    weir.setText(byId("replay-name"), timeline.name);
    weir.drawTimeline(byId("replay-line"), timeline);
    paint();
  }

  function links() {
    const pages = [...document.querySelectorAll("#replay [data-inner]")];
    const within = (inner) => inner !== "/" && past.path.startsWith(inner);
    const elsewhere = pages.some((link) => within(link.dataset.inner));
    for (const link of pages) {
      const inner = link.dataset.inner;
      link.setAttribute("href", `${address(inner)}?at=${Math.round(past.at)}`);
      const here = inner === "/" ? !elsewhere : within(inner);
      if (here) link.setAttribute("aria-current", inner === past.path ? "page" : "true");
      else link.removeAttribute("aria-current");
    }
    weir.showCurrent(document.querySelector(".replay-nav"));
    const whatIf = byId("replay-what-if");
    if (whatIf) whatIf.setAttribute("href", `/history/${encodeURIComponent(past.run)}/what-if`);
  }

  /* -- to another moment */

  function go(at, since) {
    past.at = clamp(at);
    wanted = { at: past.at, since: since || performance.now() };
    paint();
    pump();
  }

  async function pump() {
    if (busy || !wanted || !past.run) return;
    const { at, since, whole } = wanted;
    const { run, path, page, shown } = past;
    wanted = null;
    busy = true;
    askedAt = performance.now();
    const have = !whole && at >= shown && at - shown < JUMP_MS ? shown : 0;
    const soon = !have && !whole; // after a jump the series come first, what scalers would have said after them
    const query = new URLSearchParams({ path, at: Math.round(at), have: Math.round(have), page, soon });
    let message = null;
    try {
      const answer = await fetch(`/api/replay/${encodeURIComponent(run)}/moment?${query}`);
      if (answer.ok) message = await answer.json();
    } catch (error) {
      /* the server is away: the banner says so, and the next movement asks again */
    }
    if (past.run !== run || past.path !== path) {
      busy = false;
      return;
    }
    if (message && message.redraw) {
      weir.send("refresh", { data: { at: message.at } }); // the page itself changes; it calls enterPast
      setTimeout(() => (busy = false), 3000);
      return;
    }
    busy = false;
    if (message) apply(message, since, whole);
    if (message && message.more && !wanted) wanted = { at, since, whole: true };
    if (wanted) pump();
    else advise();
  }

  function apply(message, since, whole) {
    const came = performance.now();
    past.shown = message.at;
    weir.moment = message.at;
    weir.momentSeen = message.seen;
    for (const key in message.charts) {
      const model = weir.models[key];
      if (!model) continue;
      if (message.all) Object.assign(model, message.charts[key]);
      else weir.append(key, message.charts[key]);
    }
    weir.put(message);
    weir.drawCharts();
    const now = performance.now();
    const ms = now - since;
    if (whole && window.weirScrubs.length) window.weirScrubs.at(-1).whole = ms;
    else window.weirScrubs.push({ at: message.at, ms, drawing: now - came, whole: message.more ? 0 : ms });
    if (window.weirScrubs.length > TIMES_KEPT) window.weirScrubs.shift();
    remember();
  }

  let rememberedAt = 0;
  let rememberLater = 0;
  function remember() {
    clearTimeout(rememberLater);
    if (performance.now() - rememberedAt < 400) {
      rememberLater = setTimeout(remember, 400); // the moment where it stays counts too
      return;
    }
    if (!past.run) return;
    rememberedAt = performance.now();
    weir.keepInAddress("at", Math.round(past.shown));
    links();
  }

  /* -- what would have been recommended: only where one stays for a moment */

  let adviceTimer = 0;
  function advise() {
    clearTimeout(adviceTimer);
    const box = byId("replay-advice");
    if (box) box.classList.toggle("is-old", adviceAt !== past.shown);
    if (past.playing || !past.run) return;
    adviceTimer = setTimeout(async () => {
      const { run, shown } = past;
      const answer = await fetch(`/api/replay/${encodeURIComponent(run)}/advice?at=${shown}`);
      if (!answer.ok || past.run !== run || past.shown !== shown) return;
      const found = await answer.json();
      adviceAt = shown;
      weir.send("replay-advice", { children: found.children });
      const there = byId("replay-advice");
      if (there) there.classList.remove("is-old");
    }, ADVICE_AFTER_MS);
  }

  /* -- playing */

  let tickedAt = performance.now();
  setInterval(() => {
    const now = performance.now();
    const passed = now - tickedAt;
    tickedAt = now;
    if (!past.playing || !past.run || dragging) return;
    past.at = clamp(past.at + passed * past.speed);
    if (past.at >= last()) play(false);
    paint();
    if (!busy && now - askedAt >= FRAME_MS) go(past.at);
  }, 60);

  function play(on) {
    if (on && past.at >= last()) past.at = first();
    past.playing = on;
    paint();
    if (!on) go(past.at);
  }

  function step(direction) {
    if (past.playing) play(false);
    go(past.at + direction * period());
  }

  function toMark(direction) {
    if (!timeline) return;
    const marks = timeline.marks.map((mark) => mark.at);
    const found =
      direction > 0 ? marks.find((at) => at > past.at + 1) : marks.filter((at) => at < past.at - 1).pop();
    if (found == null) return;
    if (past.playing) play(false);
    go(found);
  }

  /* -- the bar */

  function paint() {
    const clock = byId("replay-clock");
    if (!clock || !past.run) return;
    const at = new Date(past.at);
    weir.setText(
      clock,
      at.toLocaleDateString([], { year: "numeric", month: "short", day: "numeric" }) +
        " " +
        weir.clock(past.at, true),
    );
    const button = document.querySelector('[data-replay="play"]');
    button.classList.toggle("is-playing", past.playing);
    button.setAttribute("aria-label", past.playing ? "Pause" : "Play");
    for (const speed of document.querySelectorAll("[data-speed]"))
      speed.setAttribute("aria-pressed", String(Number(speed.dataset.speed) === past.speed));
    const line = byId("replay-line");
    line.setAttribute("aria-valuemin", 0);
    const seconds = (of) => (timeline ? Math.round((of - first()) / 1000) : 0);
    line.setAttribute("aria-valuemax", seconds(last()));
    line.setAttribute("aria-valuenow", seconds(past.at));
    line.setAttribute("aria-valuetext", clock.textContent);
    if (!timeline || !line.firstChild) return;
    const share = (past.at - first()) / Math.max(last() - first(), 1);
    line.style.setProperty("--at", (share * 100).toFixed(3) + "%");
    const near = timeline.marks.filter((m) => Math.abs(m.at - past.at) <= period() * 1.5);
    weir.setText(byId("replay-event"), near.length ? near[near.length - 1].text : "");
  }

  /* -- hands and keys */

  let dragging = false;
  function at(event) {
    const box = byId("replay-line").getBoundingClientRect();
    const share = (event.clientX - box.left) / Math.max(box.width, 1);
    return first() + Math.min(Math.max(share, 0), 1) * (last() - first());
  }

  document.addEventListener("pointerdown", (event) => {
    const line = event.target.closest && event.target.closest("#replay-line");
    if (!line || !timeline || event.button) return;
    event.preventDefault();
    line.focus({ preventScroll: true });
    line.setPointerCapture(event.pointerId);
    dragging = true;
    const mark = event.target.closest("[data-at]");
    go(mark ? Number(mark.dataset.at) : at(event));
  });
  document.addEventListener("pointermove", (event) => {
    if (dragging) go(at(event));
  });
  for (const name of ["pointerup", "pointercancel"])
    document.addEventListener(name, () => {
      dragging = false;
    });

  const VERBS = {
    play: () => play(!past.playing),
    back: () => step(-1),
    forward: () => step(1),
    "mark-back": () => toMark(-1),
    "mark-forward": () => toMark(1),
  };

  document.addEventListener("click", (event) => {
    if (!past.run || !event.target.closest) return;
    const verb = event.target.closest("[data-replay]");
    if (verb) VERBS[verb.dataset.replay]();
    const speed = event.target.closest("[data-speed]");
    if (speed) {
      past.speed = Number(speed.dataset.speed);
      paint();
    }
  });

  /* Links within the replay take the moment along, also one that came after they were drawn. */
  document.addEventListener(
    "click",
    (event) => {
      const link = past.run && event.target.closest && event.target.closest("a[href]");
      if (!link || event.metaKey || event.ctrlKey || event.shiftKey || event.button) return;
      const to = link.getAttribute("href");
      if (to.startsWith(base())) {
        event.preventDefault();
        event.stopPropagation();
        past.arrived = true;
        weir.go(`${to.split("?")[0]}?at=${Math.round(past.at)}`);
      } else if (link.id === "replay-what-if") {
        event.preventDefault();
        weir.go(to);
      }
    },
    true,
  );

  document.addEventListener("keydown", (event) => {
    if (!past.run || event.defaultPrevented || event.altKey || event.ctrlKey || event.metaKey) return;
    const target = event.target;
    if (target.closest("input, textarea, select, [contenteditable], [data-chart], [data-matrix]")) return;
    const inButton = target.closest("button, a, summary, [role=dialog]");
    if (event.key === " " && !inButton) play(!past.playing);
    else if (event.key === "ArrowLeft") step(-1);
    else if (event.key === "ArrowRight") step(1);
    else if (event.key === "Home" && target.closest("#replay-line")) go(first());
    else if (event.key === "End" && target.closest("#replay-line")) go(last());
    else return;
    event.preventDefault();
  });

  window.addEventListener("popstate", () => {
    past.arrived = true; // the address says which moment
  });

  weir.past = past;
})();
