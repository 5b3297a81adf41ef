/* The session on the pages: buttons that need a higher role are off and say why, a session
   that has ended leads to the sign-in page, and what the server refuses is said aloud. */
(function () {
  "use strict";
  const weir = (window.weir = window.weir || {});
  const TRIES = 60;
  const ROLES = ["viewer", "approver", "admin"];
  const plainFetch = window.fetch.bind(window);
  let leaving = false;

  function toSignIn(why) {
    if (leaving) return;
    leaving = true;
    const here = location.pathname + location.search;
    location.replace(`/sign-in?${why}=1&next=${encodeURIComponent(here)}`);
  }

  function say(text) {
    const note = document.createElement("div");
    note.className = "toast";
    note.dataset.state = "bad";
    note.textContent = text;
    const box = document.getElementById("toast");
    if (box) box.append(note);
    setTimeout(() => note.remove(), 8000);
  }

  /* A page that asks for too much at once waits its turn: nothing was done yet. */
  async function inTurn(args) {
    for (let tries = 0; ; tries += 1) {
      const answer = await plainFetch(...args);
      const waitS = Number(answer.headers.get("retry-after"));
      if (answer.status !== 429 || !waitS || tries === TRIES || typeof args[0] !== "string") return answer;
      if (tries === 0) answer.clone().json().then((said) => say(said.error), () => {});
      await new Promise((resume) => setTimeout(resume, waitS * 1000));
    }
  }

  window.fetch = async function (...args) {
    const answer = await inTurn(args);
    if (answer.status === 401) toSignIn("ended");
    else if (answer.status === 403 || answer.status === 413)
      answer.clone().json().then((said) => say(said.error || "Refused."), () => {});
    return answer;
  };

  async function signOut() {
    const answer = await plainFetch("/sign-out", { method: "POST", headers: weir.csrf() });
    if (answer.ok || answer.status === 401) toSignIn("out");
    else say((await answer.json()).error);
  }

  document.addEventListener("click", (event) => {
    const target = event.target.closest ? event.target : document.body;
    if (target.closest("#sign-out")) signOut();
    const menu = document.querySelector("details.who[open]");
    if (menu && !target.closest("details.who")) menu.open = false;
  });
  document.addEventListener("keydown", (event) => {
    const menu = document.querySelector("details.who[open]");
    if (event.key === "Escape" && menu) menu.open = false;
  });

  /* What the present role does not allow is off; the server refuses it anyhow. */
  function limit() {
    const who = document.querySelector("[data-role]");
    if (!who) return;
    const rank = ROLES.indexOf(who.dataset.role);
    for (const element of document.querySelectorAll("[data-needs]:not([data-limited])")) {
      element.dataset.limited = "";
      if (ROLES.indexOf(element.dataset.needs) <= rank) continue;
      const control = element.matches("button, input, select, textarea")
        ? [element]
        : element.querySelectorAll("button, input, select, textarea");
      for (const one of control) one.disabled = true;
      element.title = `This needs the role ${element.dataset.needs}; you are ${who.dataset.role}.`;
    }
  }
  new MutationObserver(limit).observe(document.documentElement, { childList: true, subtree: true });
})();
