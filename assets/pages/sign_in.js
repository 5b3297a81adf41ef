/* The sign-in and password pages: forms are sent as JSON, and a one-time link signs in
   by itself. The link's secret stands behind the #, which browsers keep to themselves. */
(function () {
  "use strict";
  const form = document.getElementById("form");
  const error = document.getElementById("error");
  const button = form.querySelector("button");
  const query = new URLSearchParams(location.search);

  /* Where to go afterwards; never to another site. */
  function next() {
    const wanted = new URL(query.get("next") || "/", location.origin);
    const own = wanted.origin === location.origin && !wanted.pathname.startsWith("//");
    return own ? wanted.pathname + wanted.search : "/";
  }

  function csrf() {
    const found = document.cookie.split("; ").find((c) => c.startsWith(form.dataset.csrf + "="));
    return form.dataset.csrf && found ? { "X-CSRFToken": found.split("=")[1] } : {};
  }

  async function post(path, data) {
    error.textContent = "";
    button.disabled = true;
    try {
      const answer = await fetch(path, {
        method: "POST",
        headers: { "Content-Type": "application/json", ...csrf() },
        body: JSON.stringify(data),
      });
      const said = await answer.json();
      if (answer.ok) return said;
      error.textContent = said.error || "This did not work; try again.";
    } catch (problem) {
      error.textContent = "The server does not answer; try again.";
    }
    button.disabled = false;
    return null;
  }

  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const data = Object.fromEntries(new FormData(form));
    if (form.dataset.post === "/password") {
      if (data.new !== data.again) {
        error.textContent = "The two new passwords are not the same.";
        return;
      }
      if (await post("/password", { old: data.old || "", new: data.new })) location.replace("/");
      return;
    }
    if (await post("/sign-in", data)) location.replace(next());
    else form.elements.password.select();
  });

  if (form.dataset.post !== "/sign-in") return;
  const link = new URLSearchParams(location.hash.slice(1)).get("link");
  if (link) {
    history.replaceState(null, "", location.pathname + location.search);
    document.getElementById("lead").textContent = "Signing in with your link …";
    post("/sign-in/link", { link }).then((said) => {
      if (said) location.replace(next());
      else document.getElementById("lead").textContent = "";
    });
    return;
  }
  if (query.has("ended"))
    document.getElementById("lead").textContent = "Your session has ended; sign in again.";
  else if (query.has("out")) document.getElementById("lead").textContent = "You are signed out.";
  /* Who comes from another site has no cookie on the first request, but has one now. */
  else
    fetch("/session", { cache: "no-store" }).then((answer) => {
      if (answer.ok) location.replace(next());
    });
})();
