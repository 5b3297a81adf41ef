"""The pages that need no Dash: signing in, and choosing a password."""

from html import escape

from weir.components import assets
from weir.components.web.security.passwords import SHORTEST

_FRAME = """<!DOCTYPE html>
<html lang="en">
  <head>
    <title>{title} - Weir</title>
    {head}
  </head>
  <body class="sign-in">
    <main class="sign-in-card">
      <img class="sign-in-logo" src="{icon}" alt="" width="44" height="44">
      <h1>{heading}</h1>
      {body}
    </main>
    <script src="{script}"></script>
  </body>
</html>
"""


def sign_in() -> str:
    """Name and password; a one-time link signs in by itself."""
    body = """
      <p class="sign-in-lead" id="lead">The control room for Spark streams.</p>
      <form id="form" data-post="/sign-in">
        <label>Name
          <input name="name" autocomplete="username" autocapitalize="none" spellcheck="false"
                 required maxlength="64" autofocus>
        </label>
        <label>Password
          <input name="password" type="password" autocomplete="current-password" required
                 maxlength="256">
        </label>
        <p class="sign-in-error" id="error" role="alert"></p>
        <button class="button button-primary" type="submit">Sign in</button>
      </form>
      <p class="sign-in-help">No password yet, or forgotten? An admin can make you a one-time link,
        or <code>weir user link NAME</code> on the machine.</p>"""
    return _frame("Sign in", "Sign in to Weir", body)


def password(name: str, *, old: bool, csrf_cookie: str) -> str:
    """Choose a password; the present one is asked for unless a link has opened the session."""
    shown = escape(name)
    present = """
        <label>Current password
          <input name="old" type="password" autocomplete="current-password" required
                 maxlength="256" autofocus>
        </label>"""
    body = f"""
      <p class="sign-in-lead">Signed in as <strong>{shown}</strong>. At least {SHORTEST} characters;
        several words are easy to remember and hard to guess.</p>
      <form id="form" data-post="/password" data-csrf="{escape(csrf_cookie)}">
        <input type="text" name="name" value="{shown}" autocomplete="username" hidden>{present if old else ""}
        <label>New password
          <input name="new" type="password" autocomplete="new-password" required
                 minlength="{SHORTEST}" maxlength="256">
        </label>
        <label>New password again
          <input name="again" type="password" autocomplete="new-password" required maxlength="256">
        </label>
        <p class="sign-in-error" id="error" role="alert"></p>
        <button class="button button-primary" type="submit">Set password</button>
        <a class="button" href="/">Not now</a>
      </form>"""
    return _frame("Password", "Choose a password", body)


def _frame(title: str, heading: str, body: str) -> str:
    return _FRAME.format(
        title=title,
        heading=heading,
        body=body,
        head=assets.head(*assets.SIGN_IN_STYLES),
        icon=assets.url(assets.ICON),
        script=assets.url(assets.SIGN_IN_SCRIPT),
    )
