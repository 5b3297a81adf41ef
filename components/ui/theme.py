"""The look that Mantine's components share with the style sheet.

All colours stand in `assets/ui/theme.css`, once for light and once for dark.
"""

from typing import Any

from weir.components.assets import head

FONT = (
    'Inter, -apple-system, BlinkMacSystemFont, "Segoe UI", Roboto, "Helvetica Neue", Arial, '
    "sans-serif"
)

THEME: Any = {
    "fontFamily": FONT,
    "primaryColor": "weir",
    "primaryShade": {"light": 6, "dark": 5},
    "defaultRadius": "md",
    "colors": {
        "weir": [
            "#eaf3fb", "#d3e4f5", "#a6c9ec", "#76ade2", "#4e94d9",
            "#3584d3", "#1f6fc0", "#1660a8", "#105391", "#07467a",
        ],
        "dark": [  # Mantine's own is grey without blue, which looks brown on our ground
            "#e6ecf2", "#c6d0da", "#96a4b1", "#748493", "#394856",
            "#2f3d4a", "#1a242d", "#151d25", "#111920", "#0d1319",
        ],
    },
}  # fmt: skip

INDEX = f"""<!DOCTYPE html>
<html lang="en">
  <head>
    {head()}
    <title>{{%title%}}</title>
    {{%css%}}
  </head>
  <body>
    {{%app_entry%}}
    <footer>{{%config%}}{{%scripts%}}{{%renderer%}}</footer>
  </body>
</html>
"""
