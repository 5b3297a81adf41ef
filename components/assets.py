"""Style sheets and scripts of `assets/`, in the order in which a browser takes them.

They are named after what they serve: `ui/` a part of every page, `live/` the feed and its
charts, `pages/NAME` one page. A file that is not named here is not loaded.
"""

from dash import Dash

STYLES = (
    "ui/theme.css",
    "ui/base.css",
    "ui/icons.css",
    "ui/shell.css",
    "ui/signed_in.css",
    "ui/controls.css",
    "ui/modes.css",
    "ui/cards.css",
    "ui/tables.css",
    "ui/dialog.css",
    "ui/states.css",
    "ui/chart.css",
    "ui/large.css",
    "ui/keys.css",
    "pages/recommendation.css",
    "pages/control_room/answer.css",
    "pages/control_room/workload.css",
    "pages/control_room/tour.css",
    "pages/control_room/map.css",
    "pages/control_room/overview.css",
    "pages/control_room/inbox.css",
    "pages/balance/page.css",
    "pages/balance/preview.css",
    "pages/balance/rebalances.css",
    "pages/balance/rings.css",
    "pages/balance/matrices.css",
    "pages/scale/page.css",  # over the table of plans of the Balance page
    "pages/scale/learning.css",
    "pages/settings.css",
    "pages/audit.css",
    "pages/users.css",
    "pages/history/page.css",
    "pages/history/plots.css",
    "pages/trends/page.css",
    "pages/compare.css",
    "pages/what_if.css",
    "pages/tune.css",
    "pages/lab.css",
    "pages/replay/bar.css",
    "pages/replay/line.css",
    "pages/replay/page.css",
)
"""Later ones may refine earlier ones: parts before pages."""

SCRIPTS = (
    "ui/dom.js",
    "ui/session.js",
    "ui/late.js",
    "ui/focus.js",
    "ui/reach.js",
    "ui/filter.js",
    "ui/folds.js",
    "live/chart-math.js",
    "live/chart-marks.js",
    "live/chart.js",
    "live/zoom.js",
    "live/large.js",
    "ui/viewer.js",  # sets the time that charts show
    "live/regions.js",
    "live/figures.js",
    "live/texts.js",
    "live/link.js",
    "pages/control_room/map/graph.js",
    "pages/control_room/map/look.js",
    "pages/control_room/map/hands.js",
    "pages/control_room/map/draw.js",
    "pages/control_room/overview.js",
    "pages/control_room/tour.js",
    "pages/balance/matrices.js",
    "pages/scale/qtable.js",
    "pages/scale/page.js",
    "pages/history/plots.js",
    "pages/history/upload.js",
    "pages/trends/page.js",
    "pages/replay/line.js",
    "pages/replay/bar.js",
    "live/feed.js",
    "ui/keys.js",
)
"""What a script needs when it is loaded stands before it."""

ICON = "favicon.svg"
BOOT = "ui/boot.js"
"""Before the first paint, on every page."""

SIGN_IN_STYLES = ("ui/theme.css", "ui/base.css", "ui/controls.css", "pages/sign_in.css")
SIGN_IN_SCRIPT = "pages/sign_in.js"
API_STYLES = ("ui/theme.css", "ui/base.css", "web/api.css")
OPEN = frozenset({ICON, BOOT, *SIGN_IN_STYLES, SIGN_IN_SCRIPT})
"""What the sign-in page is made of: served without a session."""


def url(name: str) -> str:
    """Where a file is served.

    >>> url("ui/theme.css")
    '/assets/ui/theme.css'
    """
    return f"/assets/{name}"


def head(*styles: str) -> str:
    """What stands in the head of every page, and the style sheets of one without Dash.

    >>> head("web/api.css").splitlines()[-1].strip()
    '<link rel="stylesheet" href="/assets/web/api.css">'
    """
    lines = [
        '<meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<meta name="color-scheme" content="light dark">',
        f'<link rel="icon" href="{url(ICON)}" type="image/svg+xml">',
        f'<script src="{url(BOOT)}"></script>',
        *(f'<link rel="stylesheet" href="{url(style)}">' for style in styles),
    ]
    return "\n    ".join(lines)


def load(app: Dash) -> None:
    """Let the pages of Dash load all of it; by their time of change browsers see what is new."""
    folder = app.config.assets_folder
    for style in STYLES:
        app.css.append_css({"asset_path": style, "filepath": f"{folder}/{style}"})
    for script in SCRIPTS:
        app.scripts.append_script({"asset_path": script, "filepath": f"{folder}/{script}"})
