"""Recommendations, modes, settings and the audit trail on the command line."""

import csv
import sys
import time
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from weir.commands.options import Redis, store_at
from weir.commands.terminal import cell, say
from weir.metrics.store.where import DEFAULT_REDIS

Comment = Annotated[str, typer.Option(help="Why; it is kept in the audit trail")]
Json = Annotated[bool, typer.Option("--json", help="As JSON")]
COLUMNS = (
    "number", "at", "by", "address", "action", "subject", "why", "plan_hash", "detail", "before",
    "predicted", "measured", "previous", "seal",
)  # fmt: skip


def register(app: typer.Typer) -> None:
    """Add every command of this file."""
    for function in (
        recommendations, show, approve, reject, cancel, rollback, pause, resume, mode, settings,
        audit, qtable,
    ):  # fmt: skip
        app.command()(function)


def recommendations(redis: Redis = DEFAULT_REDIS, json: Json = False, limit: int = 20) -> None:
    """List the newest recommendations, and all that are open."""
    found = store_at(redis).recommendations(limit)
    if json:
        return _print_json(found)
    from rich.console import Console
    from rich.table import Column, Table

    from weir.controllers.engine.trail import in_words

    # Who wants to approve one on a narrow terminal needs the whole id.
    table = Table(Column("id", no_wrap=True), "status", "what", "by", "why")
    for r in found:
        words = (r.id, r.status, in_words(r), r.source, r.verdict or r.decision.reason.text)
        table.add_row(*map(cell, words))
    return Console().print(table)


def show(id: str, redis: Redis = DEFAULT_REDIS) -> None:
    """Show one recommendation with its whole history, as JSON."""
    _print_json(_get(store_at(redis), id))


def approve(id: str, redis: Redis = DEFAULT_REDIS, comment: Comment = "") -> None:
    """Approve a recommendation as it stands now."""
    store = store_at(redis)
    _decide("approve", store, id, comment, plan_hash=_get(store, id).plan_hash)


def reject(id: str, redis: Redis = DEFAULT_REDIS, comment: Comment = "") -> None:
    """Reject a recommendation."""
    _decide("reject", store_at(redis), id, comment)


def cancel(id: str, redis: Redis = DEFAULT_REDIS, comment: Comment = "") -> None:
    """Take back what has not begun yet."""
    _decide("cancel", store_at(redis), id, comment)


def rollback(id: str, redis: Redis = DEFAULT_REDIS, comment: Comment = "") -> None:
    """Undo what a recommendation did."""
    _decide("rollback", store_at(redis), id, comment)


def pause(redis: Redis = DEFAULT_REDIS, comment: Comment = "") -> None:
    """Stop every automatic action at once."""
    from weir.controllers import service

    changed = service.pause_all(store_at(redis), _request(comment))
    print("paused" if changed else "it was paused already")


def resume(redis: Redis = DEFAULT_REDIS, comment: Comment = "") -> None:
    """Let the engine act by itself again."""
    from weir.controllers import service

    changed = service.resume_all(store_at(redis), _request(comment))
    print("resumed" if changed else "nothing was paused")


def mode(
    cluster: str,
    mode: Annotated[
        str, typer.Argument(help="observe, recommend, approve, auto_within_criteria or auto")
    ],
    redis: Redis = DEFAULT_REDIS,
    comment: Comment = "",
) -> None:
    """Set how much a cluster lets the engine do."""
    from weir.controllers import service

    say(f"{cluster}: {service.set_mode(store_at(redis), _request(comment), cluster, mode).value}")


def settings(
    group: Annotated[
        str,
        typer.Argument(
            help="engine, balance, record, guards:CLUSTER, criteria:CLUSTER, shares:CLUSTER, scale:CLUSTER or scale:CLUSTER:SCALER"
        ),
    ] = "",
    values: Annotated[
        list[str] | None, typer.Argument(help="key=value; key= brings the default back")
    ] = None,
    redis: Redis = DEFAULT_REDIS,
    json: Json = False,
    comment: Comment = "",
) -> None:
    """Show or change settings; without a group, list the groups."""
    from weir.controllers import service
    from weir.controllers.engine.groups import groups, settings_type

    store = store_at(redis)
    if not group:
        for known in groups(store.clusters()):
            print(f"{known.name}  {known.title}")
        return
    kind = settings_type(group)
    if values:
        service.set_settings(store, _request(comment), group, _pairs(values))
    _show_settings(kind, store.settings(group), store.settings_changed(group), json)


class AuditVerb(StrEnum):
    """What else can be done with the trail."""

    VERIFY = "verify"


def audit(
    what: Annotated[AuditVerb | None, typer.Argument(help="verify: the same as --verify")] = None,
    redis: Redis = DEFAULT_REDIS,
    json: Json = False,
    csv: Annotated[bool, typer.Option("--csv", help="As CSV")] = False,
    verify: Annotated[
        bool, typer.Option("--verify", help="Check the chain of seals, and what the last check saw")
    ] = False,
    anew: Annotated[
        bool, typer.Option("--anew", help="With --verify: forget the last check")
    ] = False,
    users: Annotated[
        Path,
        typer.Option(
            envvar="WEIR_USERS", help="File of users; what --verify saw is kept beside it"
        ),
    ] = Path(".weir/users.json"),
    limit: Annotated[int, typer.Option(help="Newest entries; 0 for all")] = 50,
) -> None:
    """Show, export or verify the audit trail; JSON is one entry per line, oldest first."""
    store = store_at(redis)
    if verify or what is AuditVerb.VERIFY:
        from weir.metrics.store.anchor import AnchorFile

        return _verify(store, AnchorFile.beside(users, redis), anew)
    found = store.audit(limit)[::-1] if limit else store.audit_since(0)
    if json:
        for entry in found:
            _print_json(entry, line=True)
    elif csv:
        _print_csv(found)
    else:
        _print_trail(found)
    return None


def qtable(
    verb: Annotated[str, typer.Argument(help="export, import or reset")],
    cluster: str,
    file: Annotated[
        Path | None, typer.Argument(help="JSON file; without it stdin or stdout")
    ] = None,
    redis: Redis = DEFAULT_REDIS,
    comment: Comment = "",
) -> None:
    """Export, import or reset what Q-learning has learned in a cluster."""
    import msgspec

    from weir.controllers import service
    from weir.controllers.model.errors import InvalidInput

    store = store_at(redis)
    if verb == "export":
        data = msgspec.json.format(msgspec.json.encode(service.qtable(store, cluster)))
        if file is None:
            return print(data.decode())
        file.write_bytes(data + b"\n")
        return None
    if verb == "import":
        text = file.read_bytes() if file else sys.stdin.buffer.read()
        service.import_qtable(store, _request(comment), cluster, text, file.name if file else "")
        return print(f"{cluster}: the table was imported")
    if verb == "reset":
        service.reset_qtable(store, _request(comment), cluster)
        return print(f"{cluster}: Q-learning begins anew")
    raise InvalidInput(f"'{verb}' is not one of export, import, reset", field="verb")


def _decide(verb: str, store: Any, id: str, comment: str, **more: Any) -> None:
    from weir.controllers import service
    from weir.controllers.engine.trail import in_words

    done = getattr(service, verb)(store, _request(comment), id, **more)
    say(f"{done.id} {done.status}: {in_words(done)}")


def _request(comment: str) -> Any:
    from weir.commands.trail import request

    return request(comment)


def _get(store: Any, id: str) -> Any:
    from weir.controllers.model.errors import NotFound

    found = store.recommendation(id)
    if found is None:
        raise NotFound(f"there is no recommendation {id}")
    return found


def _pairs(values: list[str]) -> dict[str, str | None]:
    from weir.controllers.model.errors import InvalidInput

    for value in values:
        if "=" not in value:
            raise InvalidInput(f"'{value}' is not of the form key=value", field="values")
    return {key: value or None for key, value in (v.split("=", 1) for v in values)}


def _show_settings(kind: Any, kept: dict[str, Any], changed: Any, json: bool) -> None:
    from weir.controllers.engine.stored import read_leniently
    from weir.controllers.model.settings import describe

    values = read_leniently(kind, kept)
    rows = {info.key: getattr(values, info.key) for info in describe(kind)}
    if json:
        return _print_json(rows)
    for info in describe(kind):
        mark = "*" if info.key in kept else " "
        say(f"{mark} {info.key} = {rows[info.key]} {info.unit}".rstrip() + f"  ({info.help})")
    if changed and changed[0]:
        say(f"changed by {changed[0]}, {_when(changed[1])}")
    return None


def _verify(store: Any, anchor: Any, anew: bool) -> None:
    chain = anchor.check(store.audit, anew=anew, key=store.keyring.audit_key())
    if chain.broken is not None:
        print(f"the chain is broken at entry {chain.broken}", file=sys.stderr)
        raise typer.Exit(1)
    if chain.lost:
        print(
            f"{chain.lost}; if Redis was emptied or replaced on purpose, add --anew "
            f"(the last check is remembered in {anchor.path})",
            file=sys.stderr,
        )
        raise typer.Exit(1)
    told = (
        f"entry {chain.anchor.number} is the one that was there on {_when(chain.anchor.at)}"
        if chain.anchor
        else "checked for the first time, so what happened before cannot be seen"
    )
    print(f"{chain.checked} entries, the chain is whole; {told}")


def _print_trail(found: list[Any]) -> None:
    for e in found:
        where = f" from {e.address}" if e.address else ""
        why = f" ({e.why})" if e.why else ""
        told = f"{e.number} {_when(e.at)} {e.by}{where}: {e.action} {e.subject} {e.detail}{why}"
        say(told)


def _print_csv(found: list[Any]) -> None:
    import msgspec

    writer = csv.writer(sys.stdout)
    writer.writerow(COLUMNS)
    for entry in found:
        row = (getattr(entry, name) for name in COLUMNS)
        writer.writerow(
            _cell(msgspec.json.encode(v).decode() if isinstance(v, dict) else v) for v in row
        )


def _cell(value: Any) -> Any:
    """A spreadsheet must not take what somebody wrote for a formula.

    >>> _cell("=1+1"), _cell("fine")
    ("'=1+1", 'fine')
    """
    return f"'{value}" if isinstance(value, str) and value[:1] in "=+-@\t\r" and value else value


def _print_json(value: Any, line: bool = False) -> None:
    import msgspec

    data = msgspec.json.encode(value)
    print((data if line else msgspec.json.format(data)).decode())


def _when(at: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(at))
