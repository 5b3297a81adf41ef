"""Ids of the settings page."""

from weir.components.ui.ids import IdPart

THEN = "replay-settings"  # the settings in a replay
SETTINGS_SCOPE = "settings-scope"  # the cluster whose settings are shown; empty: the general ones
SETTINGS_BODY = "settings-body"
SETTINGS_SHOWN = "settings-shown"  # the values that the forms were drawn with
SETTINGS_SEARCH = "settings-search"
SETTINGS_HITS = "settings-hits"


def setting(key: IdPart, group: IdPart) -> dict[str, IdPart]:
    """The control of one setting on the settings page."""
    return {"type": "setting", "key": key, "group": group}


def setting_switch(key: IdPart, group: IdPart) -> dict[str, IdPart]:
    """The same, of one that is on or off."""
    return {"type": "setting-switch", "key": key, "group": group}


def setting_default(key: IdPart, group: IdPart) -> dict[str, IdPart]:
    """The button that brings one setting back to its default."""
    return {"type": "setting-default", "key": key, "group": group}


def settings_save(group: IdPart) -> dict[str, IdPart]:
    """The button that keeps a group of settings."""
    return {"type": "settings-save", "group": group}


def settings_part(part: str, group: IdPart) -> dict[str, IdPart]:
    """A text of one group: its error, or who changed it last."""
    return {"type": f"settings-{part}", "group": group}
