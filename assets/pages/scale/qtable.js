/* The Q-table: one panel per action, latency bins downwards, direction of the workload across.
   A cell's colour is what the action is worth there; a star, a frame, a count and the trail say
   the rest, so that nothing is told by colour alone. */
(function () {
  "use strict";
  const weir = (window.weir = window.weir || {});
  const HEAD = 58;
  const STAR_PX = 54; // narrower cells have their star beside the visits
  const TEXT_PX = 20; // lower rows have no room for their figure
  const VISITS_PX = 32;
  const WAYS = ["not rising", "rising"];

  function signed(value, digits) {
    const text = Math.abs(value).toFixed(digits == null ? 2 : digits);
    return (value < 0 && Number(text) ? "−" : "") + text;
  }

  weir.drawQtable = function (element, model) {
    const width = element.clientWidth;
    const height = element.clientHeight;
    if (!width) return;
    const narrow = width < 460;
    const gap = narrow ? 6 : 12;
    const left = narrow ? 58 : 78;
    const cell = {
      gap,
      w: (width - left - 3 * gap - 2) / 6,
      h: (height - HEAD - 4) / Math.max(model.bins.length, 1),
    };
    const at = (state, action) => {
      const row = Math.floor(state / 2) - model.first;
      if (row < 0 || row >= model.bins.length) return null;
      return [left + action * (2 * cell.w + gap) + gap + (state % 2) * cell.w, HEAD + row * cell.h];
    };
    const svg = weir.svg("svg", { width, height, "aria-hidden": "true" });
    heads(svg, model, left, cell);
    const tried = model.values.flatMap((row, i) => row.filter((_, action) => model.visits[i][action]));
    const most = Math.max(1e-9, ...tried.map(Math.abs));
    model.values.forEach((row, i) =>
      row.forEach((value, action) => drawCell(svg, model, i, action, value / most, at, cell)),
    );
    present(svg, model, at, cell);
    trail(svg, model, at, cell);
    const tip = document.createElement("div");
    tip.className = "tip";
    tip.setAttribute("role", "status");
    tip.hidden = true;
    element.replaceChildren(svg, tip);
    element.weirTable = { model, at, cell, tip, left };
    if (!element.weirListens) listen(element);
    say(element);
  };

  function heads(svg, model, left, cell) {
    model.actions.forEach((title, action) => {
      const x = left + action * (2 * cell.w + cell.gap) + cell.gap;
      weir.svg("text", { x: x + cell.w, y: 14, class: "q-title" }, svg, title);
      WAYS.forEach((way, i) =>
        weir.svg("text", { x: x + (i + 0.5) * cell.w, y: 34, class: "q-way" }, svg,
          cell.w < 60 ? (i ? "rising" : "not") : way),
      );
    });
    weir.svg("text", { x: left + cell.gap - 5, y: 34, class: "q-axis" }, svg, "Workload");
    weir.svg("text", { x: left + cell.gap - 5, y: 52, class: "q-axis" }, svg, "Latency");
    const every = Math.ceil(14 / cell.h);
    model.bins.forEach((label, row) => {
      if (row % every) return;
      const y = HEAD + (row + 0.5) * cell.h + 4;
      weir.svg("text", { x: left + cell.gap - 5, y, class: "q-bin" }, svg, label);
    });
  }

  function drawCell(svg, model, i, action, share, at, cell) {
    const state = i + 2 * model.first;
    const [x, y] = at(state, action);
    const colour = share < 0 ? "var(--rho-minus)" : "var(--rho-plus)";
    const prior = !model.visits[i][action];
    const fill = prior
      ? "var(--off-soft)"
      : `color-mix(in srgb, ${colour} ${Math.round(Math.abs(share) * 72)}%, var(--rho-none))`;
    const best = model.best[i] === action;
    const group = weir.svg("g", {
      class: "q-cell" + (best ? " q-best" : "") + (prior ? " q-prior" : ""),
      "data-state": state,
      "data-action": action,
    }, svg);
    const box = weir.svg("rect", { x: x + 1, y: y + 1, width: cell.w - 2, height: Math.max(cell.h - 2, 1), rx: 3 }, group);
    box.style.fill = fill;
    if (cell.h < TEXT_PX) {
      if (best) weir.svg("circle", { cx: x + 7, cy: y + cell.h / 2, r: 2, class: "q-dot" }, group);
      return;
    }
    const two = cell.h >= VISITS_PX;
    const cx = x + cell.w * 0.45;
    const value = signed(model.values[i][action]);
    const star = best ? "★" : "";
    const low = two && cell.w < STAR_PX;
    weir.svg("text", { x: cx, y: y + cell.h / 2 + (two ? -2 : 4), class: "q-value" }, group, (low ? "" : star) + value);
    if (two)
      weir.svg("text", { x: cx, y: y + cell.h / 2 + 12, class: "q-visits" }, group,
        (low ? star : "") + (prior ? "prior" : "×" + model.visits[i][action]));
  }

  function present(svg, model, at, cell) {
    if (model.present == null) return;
    model.actions.forEach((_, action) => {
      const spot = at(model.present, action);
      if (!spot) return;
      weir.svg("rect", {
        x: spot[0] + 0.5, y: spot[1] + 0.5, width: cell.w - 1, height: Math.max(cell.h - 1, 2), rx: 4,
        class: "q-present",
      }, svg);
    });
  }

  /* Each step in the panel of its action, from the state it left to the one it led to. */
  function trail(svg, model, at, cell) {
    const group = weir.svg("g", { class: "q-trail" }, svg);
    model.trail.forEach(([, from, action, , to], i) => {
      const a = at(from, action);
      const b = at(to, action);
      if (!a || !b) return;
      const opacity = (0.2 + (0.8 * (i + 1)) / model.trail.length).toFixed(2);
      const spot = ([x, y]) => [x + cell.w * 0.86, y + cell.h / 2];
      const [ax, ay] = spot(a);
      const [bx, by] = spot(b);
      const step = weir.svg("g", { opacity, "data-step": i }, group);
      if (from === to) {
        weir.svg("circle", { cx: ax, cy: ay, r: 4 }, step);
        return;
      }
      const bend = 0.18;
      const mx = (ax + bx) / 2 - (by - ay) * bend;
      const my = (ay + by) / 2 + (bx - ax) * bend;
      weir.svg("path", { d: `M${ax} ${ay}Q${mx} ${my} ${bx} ${by}` }, step);
      const turn = (Math.atan2(by - my, bx - mx) * 180) / Math.PI;
      weir.svg("path", { d: "M0 0L-7 -3.5V3.5Z", transform: `translate(${bx} ${by}) rotate(${turn})`, class: "q-tip" }, step);
    });
  }

  /* -- what a cell says */

  function words(model, state, action) {
    const i = state - 2 * model.first;
    const bin = (s) => model.bins[Math.floor(s / 2) - model.first] || "another bin";
    const lines = [`<time>${model.actions[action]} at latency ${bin(state)}, workload ${WAYS[state % 2]}</time>`];
    if (model.visits[i][action])
      lines.push(
        `<div>learned<b>${signed(model.values[i][action], 3)}</b></div>`,
        `<div>prior, before that<b>${signed(model.priors[i][action], 3)}</b></div>`,
        `<div>tried<b>${model.visits[i][action]} times</b></div>`,
      );
    else lines.push(`<div>prior<b>${signed(model.values[i][action], 3)}</b></div>`, "<div>never tried</div>");
    if (model.best[i] === action) lines.push("<div>★ worth most in this state</div>");
    if (model.present === state) lines.push("<div>the state at the last decision</div>");
    const last = model.trail.filter((t) => t[1] === state && t[2] === action).pop();
    if (last)
      lines.push(
        `<div>${weir.clock(last[0], true)}: reward ${signed(last[3])}, then ${bin(last[4])} ${WAYS[last[4] % 2]}</div>`,
      );
    return lines.join("");
  }

  function say(element) {
    const { model, at, cell, tip } = element.weirTable;
    const spot = element.weirAt && at(element.weirAt[0], element.weirAt[1]);
    tip.hidden = !spot;
    for (const old of element.querySelectorAll(".q-here")) old.classList.remove("q-here");
    if (!spot) return;
    const [state, action] = element.weirAt;
    const here = element.querySelector(`[data-state="${state}"][data-action="${action}"]`);
    if (here) here.classList.add("q-here");
    tip.innerHTML = words(model, state, action);
    const right = spot[0] > element.clientWidth / 2;
    tip.style.left = right ? "auto" : spot[0] + cell.w + 6 + "px";
    tip.style.right = right ? element.clientWidth - spot[0] + 6 + "px" : "auto";
    tip.style.top = Math.max(0, Math.min(spot[1], element.clientHeight - tip.offsetHeight)) + "px";
  }

  /* Arrow keys walk from cell to cell, as the pointer does. */
  const STEPS = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };
  function listen(element) {
    element.weirListens = true;
    element.addEventListener("pointermove", (event) => {
      const cell = event.target.closest && event.target.closest(".q-cell");
      element.weirAt = cell ? [Number(cell.dataset.state), Number(cell.dataset.action)] : null;
      say(element);
    });
    const leave = () => {
      element.weirAt = null;
      say(element);
    };
    element.addEventListener("pointerleave", leave);
    element.addEventListener("blur", leave);
    element.addEventListener("keydown", (event) => {
      const step = STEPS[event.key];
      if (!step) return;
      event.preventDefault();
      const { model } = element.weirTable;
      const begin = model.present == null ? [2 * model.first, 0] : [model.present, 0];
      if (!element.weirAt) element.weirAt = begin;
      else {
        const [state, action] = element.weirAt;
        const row = Math.floor(state / 2) + step[0];
        const column = 2 * action + (state % 2) + step[1];
        const low = model.first;
        const bin = Math.min(Math.max(row, low), low + model.bins.length - 1);
        const to = Math.min(Math.max(column, 0), 5);
        element.weirAt = [2 * bin + (to % 2), Math.floor(to / 2)];
      }
      say(element);
    });
  }
})();
