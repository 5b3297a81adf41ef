"""Every scaler of this package, found by itself."""

import importlib
import pkgutil
from collections.abc import Mapping
from functools import cache
from typing import Any

import weir.controllers.scaling
from weir.controllers.model.errors import InvalidInput
from weir.controllers.model.settings import build
from weir.controllers.scaling.base import Scaler, Scope


@cache
def scalers() -> dict[str, type[Scaler[Any, Any]]]:
    """Name -> class of every scaler, by name.

    >>> "no_op" in scalers() and "drs" in scalers()
    True
    """
    package = weir.controllers.scaling
    for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        importlib.import_module(module.name)
    found: dict[str, type[Scaler[Any, Any]]] = {}
    waiting: list[type[Scaler[Any, Any]]] = [*Scaler.__subclasses__()]
    while waiting:
        kind = waiting.pop()
        waiting.extend(kind.__subclasses__())
        if kind.__module__.startswith(package.__name__ + ".") and "name" in vars(kind):
            found[kind.name] = kind
    return dict(sorted(found.items()))


def scaler_type(name: str) -> type[Scaler[Any, Any]]:
    """The scaler of that name, or a sentence that lists the known ones."""
    try:
        return scalers()[name]
    except KeyError:
        known = ", ".join(scalers())
        raise InvalidInput(f"there is no scaler '{name}'; known: {known}", field="scaler") from None


def create(name: str, settings: Mapping[str, Any], scope: Scope) -> Scaler[Any, Any]:
    """A scaler for one cluster from a person's settings."""
    kind = scaler_type(name)
    return kind(build(kind.settings_type, settings), scope)
