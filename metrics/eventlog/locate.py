"""From paths to logs: which files belong together, and in which order.

A log is one file, or the parts of one application attempt:

    eventlog_v2_app_1/events_1_app_1.zstd, events_2_...      rolling, by index
        events_4_app_1.zstd.compact                          replaces 1 to 4
    eventlog-2024-05-01--10-00.gz, ..., eventlog             Databricks, newest last
    EVENT_LOG_1                                              Spark 1.0 to 1.2

The same rules hold for a folder and for what is inside a zip. In a folder,
hidden files, checksums and markers (`_SUCCESS`, `appstatus_*`) are no logs.
"""

import os
import re
import zipfile
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

from msgspec import Struct

from weir.controllers.model.errors import InvalidInput

_ROLLING = re.compile(r"events_(\d+)_(.+)$")
_LEGACY = re.compile(r"EVENT_LOG_(\d+)$")
_DATABRICKS = re.compile(r"eventlog(-\d{4}-\d\d-\d\d--\d\d-\d\d)?(\.\w+)?$")
_SUFFIX = re.compile(r"(\.(inprogress|lz4|lzf|snappy|zstd|zst|gz))+$")
_MARKER = re.compile(r"appstatus_|SPARK_VERSION_|COMPRESSION_CODEC_|APPLICATION_COMPLETE$|.*\.crc$")
_MEMBERS_MOST = 10_000


class LogPart(Struct, frozen=True, kw_only=True):
    """One file, or one member of a zip."""

    path: str
    member: str | None = None
    size_bytes: int = 0

    @property
    def name(self) -> str:
        """The last part of the path, for messages."""
        return os.path.basename(self.member or self.path)


class Log(Struct, frozen=True, kw_only=True):
    """The parts of one event log in their order."""

    name: str
    parts: tuple[LogPart, ...]
    folder: str = ""  # name of the one that it lies in
    asked_for: bool = True  # named by a person, not merely found in a folder

    @property
    def size_bytes(self) -> int:
        """Bytes to be read, as stored."""
        return sum(part.size_bytes for part in self.parts)


def locate(path: str | os.PathLike[str]) -> list[Log]:
    """Every log at or below `path`."""
    root = Path(os.fspath(path).removeprefix("file://"))
    try:
        if root.is_dir():
            found = _in_folder(root)
            if not found:
                raise InvalidInput(f"{root} holds no files that could be event logs")
            return found
        if root.exists() and not root.is_file():
            raise InvalidInput(f"{root} is neither a file nor a folder")
        return _in_file(root, asked_for=True)
    except FileNotFoundError:
        raise InvalidInput(f"{root} does not exist") from None
    except OSError as error:
        raise InvalidInput(f"{error.filename or root} cannot be read: {error.strerror}") from None


def group_names(names: Iterable[str]) -> list[list[str]]:
    """Names of files, joined into logs.

    >>> group_names(["d/events_10_a", "d/events_2_a", "d/appstatus_a", "x", "y"])
    [['x'], ['y'], ['d/events_2_a', 'd/events_10_a']]
    >>> group_names(["events_1_a", "events_2_a", "events_2_a.compact", "events_3_a"])
    [['events_2_a.compact', 'events_3_a']]
    >>> group_names(["eventlog", "eventlog-2024-05-01--10-00.gz"])
    [['eventlog-2024-05-01--10-00.gz', 'eventlog']]
    """
    folders: dict[str, list[str]] = defaultdict(list)
    for name in names:
        folder, _, base = name.rpartition("/")
        if not _MARKER.match(base):
            folders[folder].append(name)
    logs = []
    for folder in sorted(folders):
        families: dict[str, list[str]] = defaultdict(list)
        for name in sorted(folders[folder]):
            families[_family(name)].append(name)
        logs += [_from_last_compact(sorted(f, key=order)) for f in families.values()]
    return logs


def order(name: str) -> tuple[float, str]:
    """Where a part stands in its log; a compacted one right after the last it replaces.

    >>> order("events_2_a") < order("events_2_a.compact") < order("events_10_a")
    True
    """
    base = name.rpartition("/")[2]
    if match := _ROLLING.match(base) or _LEGACY.match(base):
        return int(match[1]) + base.endswith(".compact") / 2, base
    match = _DATABRICKS.match(base)
    return (1, base) if match and not match[1] else (0, base)


def _family(name: str) -> str:
    """What the parts of one log have in common; a single file is its own family."""
    base = name.rpartition("/")[2]
    if match := _ROLLING.match(base):
        return _SUFFIX.sub("", match[2].removesuffix(".compact"))
    if _LEGACY.match(base):
        return "EVENT_LOG_"
    return "eventlog" if _DATABRICKS.match(base) else name


def _from_last_compact(names: list[str]) -> list[str]:
    last = max((i for i, name in enumerate(names) if name.endswith(".compact")), default=0)
    return names[last:]


def _in_folder(root: Path) -> list[Log]:
    names = []
    for folder, below, files in os.walk(root):
        below[:] = sorted(d for d in below if d[0] not in "._")
        relative = Path(folder).relative_to(root).as_posix()
        prefix = "" if relative == "." else relative + "/"
        names += [
            prefix + f
            for f in files
            if f[0] not in "._" and os.path.isfile(os.path.join(folder, f))
        ]
    found = []
    for group in group_names(names):
        if len(group) == 1:
            found += _in_file(root / group[0], asked_for=False)
        else:
            parts = tuple(_part(root / name) for name in group)
            found.append(_log(_label(root, group[0]), parts))
    return found


def _label(root: Path, first: str) -> str:
    """A log of several parts is called after its folder."""
    return first.rpartition("/")[0].rpartition("/")[2] or root.name


def _in_file(path: Path, asked_for: bool) -> list[Log]:
    with path.open("rb") as file:
        if file.read(4) == b"PK\x03\x04":
            try:
                return _in_zip(path, asked_for)
            except zipfile.BadZipFile:
                pass  # cut off: its members are read forwards
    part = _part(path)
    # The file of Spark 1.0 has the same name in every application's folder.
    name = Path(part.path).parent.name if _LEGACY.match(path.name) else path.name
    return [_log(name, (part,), asked_for)]


def _in_zip(path: Path, asked_for: bool) -> list[Log]:
    with zipfile.ZipFile(path) as archive:
        members = [m for m in archive.infolist() if not m.is_dir() and m.file_size]
    if len(members) > _MEMBERS_MOST:
        raise InvalidInput(f"{path.name} has {len(members)} members; unpack it first")
    sizes = {m.filename: m.compress_size for m in members}
    return [
        _log(
            f"{path.name}:{group[0]}",
            tuple(
                LogPart(path=str(path.absolute()), member=name, size_bytes=sizes[name])
                for name in group
            ),
            asked_for and len(sizes) == 1,
        )
        for group in group_names(n for n in sizes if not _is_hidden(n))
    ]


def _is_hidden(name: str) -> bool:
    return any(piece[:1] in (".", "_") for piece in name.split("/"))


def _log(name: str, parts: tuple[LogPart, ...], asked_for: bool = True) -> Log:
    folder = Path(parts[0].path).parent.name
    return Log(name=name, parts=parts, folder=folder, asked_for=asked_for)


def _part(path: Path) -> LogPart:
    return LogPart(path=str(path.absolute()), size_bytes=path.stat().st_size)
