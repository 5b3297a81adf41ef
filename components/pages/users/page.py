"""Users and tokens."""

from dash import Dash

from weir.components.live.world import World
from weir.components.pages.base import PageKind, Site, plain
from weir.components.pages.replay.library import Library
from weir.components.pages.users import actions
from weir.components.pages.users.render import render
from weir.components.ui.path import USERS, Place
from weir.controllers.model.errors import Refused


def _then(world: World, place: Place, library: Library) -> World:
    raise Refused("Users and tokens are of the present: a run does not record them.")


def _register(app: Dash, site: Site) -> None:
    actions.register(app, site.people, site.dialog)


PAGE = PageKind(kind="users", addresses=(USERS,), of=plain(render), then=_then, register=_register)
