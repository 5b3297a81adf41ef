"""A mypy plugin for Dash components: `**{"data-tone": tone}` names its keys.

mypy holds the values of an unpacked dict against every parameter the call leaves out, so one
`data-` or `aria-` attribute would have to be a valid `hidden`, `n_clicks` and `disabled` at once.
Here a dict that is written in the call is held only against the parameters it names.
"""

from collections.abc import Callable

from mypy.nodes import DictExpr, Expression, StrExpr
from mypy.plugin import FunctionSigContext, Plugin
from mypy.types import AnyType, CallableType, FunctionLike, TypeOfAny

LIBRARIES = ("dash.html.", "dash.dcc.", "dash_mantine_components.")


class ComponentPlugin(Plugin):
    """Takes part in every call of a component's constructor."""

    def get_function_signature_hook(
        self, fullname: str
    ) -> Callable[[FunctionSigContext], FunctionLike] | None:
        return _signature if fullname.startswith(LIBRARIES) else None


def _signature(call: FunctionSigContext) -> CallableType:
    """The constructor's, which takes anything where only an unpacked dict without it is given."""
    whole = call.default_signature
    anything = AnyType(TypeOfAny.explicit)
    return whole.copy_modified(
        arg_types=[
            anything if any(_leaves_out(each, name) for each in given) else declared
            for name, declared, given in zip(
                whole.arg_names, whole.arg_types, call.args, strict=True
            )
        ]
    )


def _leaves_out(given: Expression, name: str | None) -> bool:
    return isinstance(given, DictExpr) and all(
        isinstance(key, StrExpr) and key.value != name for key, _ in given.items
    )


def plugin(version: str) -> type[Plugin]:
    """What mypy looks for."""
    return ComponentPlugin
