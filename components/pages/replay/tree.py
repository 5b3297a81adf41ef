"""A page of the present made one of the past: links stay in the replay, nothing acts."""

from typing import Any

from dash.development.base_component import Component

from weir.components.pages.replay.view import replay_path

NOT_NOW = "This is a replay: nothing can be changed here."
_OWN = ("/replay/", "/history", "/assets/")
_STAY = ("Tabs", "Accordion")  # show or hide something and change nothing


def as_past(tree: Any, run: str, at: float) -> Any:
    """The same tree with its links inside the replay and everything that acts switched off."""
    if isinstance(tree, list | tuple):
        return [as_past(part, run, at) for part in tree]
    if not isinstance(tree, Component):
        return tree
    href = getattr(tree, "href", None)
    if isinstance(href, str) and href.startswith("/") and not href.startswith(_OWN):
        tree.href = replay_path(run, href, at)  # type: ignore[attr-defined]
    kind = type(tree).__name__
    if "disabled" in tree._prop_names and not kind.startswith(_STAY):
        tree.disabled = True  # type: ignore[attr-defined]
        # Without a name no callback knows it: some would look at the present and switch it on.
        if hasattr(tree, "id"):
            del tree.id
        if "title" in tree._prop_names:
            tree.title = NOT_NOW  # type: ignore[attr-defined]
    for name in ("children", "label", "description"):
        if hasattr(tree, name):
            setattr(tree, name, as_past(getattr(tree, name), run, at))
    return tree


def map_as_past(drawing: dict[str, Any] | None, run: str, at: float) -> dict[str, Any] | None:
    """The map with links inside the replay."""
    if drawing is None:
        return None
    found = dict(drawing)
    for key in ("clusters", "operators"):
        found[key] = {
            name: {**entry, "href": replay_path(run, entry["href"], at)}
            for name, entry in drawing.get(key, {}).items()
        }
    return found


def overview_as_past(
    tiles: list[dict[str, str]] | None, run: str, at: float
) -> list[dict[str, str]] | None:
    """The tiles with links inside the replay."""
    if tiles is None:
        return None
    return [{**tile, "href": replay_path(run, tile["href"], at)} for tile in tiles]
