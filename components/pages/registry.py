"""Every page, those of the header in its order: a new one is a folder and a line here."""

from importlib import import_module

from weir.components.pages.base import Registry

PAGES = Registry(
    [
        import_module(f"weir.components.pages.{name}.page").PAGE
        for name in (
            "control_room",
            "balance",
            "scale",
            "trends",
            "history",
            "lab",
            "audit",
            "settings",
            "cluster",
            "operator",
            "recommendation",
            "users",
            "compare",
            "what_if",
            "tune",
            "replay",
            "sign_in",
        )
    ]
)
