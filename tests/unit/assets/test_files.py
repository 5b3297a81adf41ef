"""Every style sheet and script is loaded, in the stated order; nothing dead, nothing forgotten."""

import re
from pathlib import Path

from dash import Dash

from weir.components import assets
from weir.components.ui import theme
from weir.components.web.app import ASSETS

LOADED = {
    *assets.STYLES, *assets.SCRIPTS, *assets.SIGN_IN_STYLES, *assets.API_STYLES,
    assets.ICON, assets.BOOT, assets.SIGN_IN_SCRIPT,
}  # fmt: skip


def files() -> set[str]:
    return {str(p.relative_to(ASSETS)) for p in ASSETS.rglob("*") if p.is_file()}


def named_in_styles() -> set[str]:
    """Files that style sheets name: icons, and the logo."""
    found = set()
    for style in ASSETS.rglob("*.css"):
        for name in re.findall(r"url\(([^)]+)\)", style.read_text(encoding="utf-8")):
            found.add(str((style.parent / name).resolve().relative_to(ASSETS.resolve())))
    return found


def test_what_is_loaded_is_there_and_nothing_else_is() -> None:
    assert files() == LOADED | named_in_styles()


def test_nothing_is_loaded_twice() -> None:
    for listed in (assets.STYLES, assets.SCRIPTS):
        assert len(set(listed)) == len(listed)


def test_every_icon_that_a_page_names_is_there() -> None:
    code = "".join(
        p.read_text(encoding="utf-8") for p in Path(theme.__file__).parents[1].rglob("*.py")
    )
    named = set(re.findall(r'\bicon\("([a-z-]+)"', code))
    assert len(named) > 5
    assert named <= {p.stem for p in (ASSETS / "ui" / "icons").iterdir()}


def test_dash_loads_them_in_the_stated_order() -> None:
    app = Dash("weir", assets_folder=str(ASSETS), include_assets_files=False)
    assets.load(app)
    styles = re.findall(r'href="/assets/([^"?]+)\?m=', app._generate_css_dist_html())
    scripts = re.findall(r'src="/assets/([^"?]+)\?m=', app._generate_scripts_html())
    assert styles == list(assets.STYLES)
    assert scripts == list(assets.SCRIPTS)


def test_no_class_of_the_style_sheets_is_dead() -> None:
    """Names that code puts together, such as icon-NAME, count by their beginning."""
    folders = (Path(theme.__file__).parents[1], ASSETS)
    code = "".join(
        p.read_text(encoding="utf-8")
        for folder in folders
        for p in folder.rglob("*")
        if p.suffix in (".py", ".js")
    )
    words = set(re.findall(r"[\w-]+", code))
    beginnings = tuple(re.findall(r"[\s\"'`]([a-z]+-)(?:\{|\$\{|[\"'] \+)", code))
    foreign = ("mantine-", "main-svg")  # of Mantine and Plotly
    dead = [
        f"{style.name}: .{name}"
        for style in sorted(ASSETS.rglob("*.css"))
        for name in classes_of(style)
        if name not in words and not name.startswith((*foreign, *beginnings))
    ]
    assert dead == []


def classes_of(style: Path) -> set[str]:
    text = re.sub(r"/\*.*?\*/", "", style.read_text(encoding="utf-8"), flags=re.DOTALL)
    selectors = " ".join(re.findall(r"([^{};]+)\{", text))
    return set(re.findall(r"[.#]([A-Za-z][\w-]*)", selectors))
