"""What a command needs beyond the packages that every installation has."""

import re
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, distribution, requires

from weir.controllers.model.errors import Unavailable

_NAME = re.compile(r"[A-Za-z0-9._-]+")
_EXTRA = re.compile("extra == [\"']([^\"']+)")


def requirements(extra: str, declared: list[str]) -> list[str]:
    """What an extra asks for, with the extras of ours that it is made of.

    >>> declared = ["redis>=8", 'dash>=4; extra == "web"', 'weir[web]; extra == "demo"']
    >>> requirements("demo", declared)
    ['dash>=4']
    """
    found: list[str] = []
    for line in declared:
        wanted, _, marker = line.partition(";")
        if f'"{extra}"' not in marker.replace("'", '"'):
            continue
        inner = re.match(r"weir\[([^]]*)\]", wanted.strip())
        if inner is None:
            found.append(wanted.strip())
            continue
        for name in inner.group(1).split(","):
            found += requirements(name.strip(), declared)
    return list(dict.fromkeys(found))


def extra_of(module: str, declared: list[str]) -> str | None:
    """The extra that installs a module; None if none does.

    >>> extra_of("argon2", ["redis>=8", 'argon2-cffi>=25.1; extra == "web"'])
    'web'
    """
    for line in declared:
        name, extra = _NAME.match(line), _EXTRA.search(line)
        package = name[0].lower().replace("-", "_") if name else ""
        if extra and (package == module or package.startswith(f"{module}_")):
            return extra[1]
    return None


def missing_words(error: ModuleNotFoundError) -> str | None:
    """What to install where a package is missing; None if it is none that an extra brings."""
    try:
        declared = requires("weir") or []
    except PackageNotFoundError:
        return None
    extra = extra_of((error.name or "").partition(".")[0], declared)
    return extra and f"This needs more than is installed here: pip install 'weir[{extra}]'"


def ensure(extra: str) -> None:
    """Install the packages of an extra that are missing here, and say so.

    From a checkout there is nothing to look up: its own set-up has installed everything.
    """
    try:
        declared = requires("weir") or []
    except PackageNotFoundError:
        return
    missing = [line for line in requirements(extra, declared) if not _is_there(line)]
    if not missing:
        return
    print(f"Installing what this command needs: {', '.join(missing)} ...", flush=True)
    pip = [sys.executable, "-m", "pip", "install", "-q", "--disable-pip-version-check", *missing]
    if subprocess.run(pip, check=False).returncode:
        raise Unavailable(f"These packages are missing: pip install 'weir[{extra}]'")


def _is_there(requirement: str) -> bool:
    name = _NAME.match(requirement)
    try:
        distribution(name.group(0) if name else requirement)
    except PackageNotFoundError:
        return False
    return True
