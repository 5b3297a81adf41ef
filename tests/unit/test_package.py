"""What is installed with the package besides Python."""

import tomllib
from fnmatch import fnmatch
from importlib.resources import files
from pathlib import Path

from tests.support.processes import ROOT
from weir.metrics.agent import listener


def test_the_listeners_source_lies_beside_its_module() -> None:
    assert "class Listener" in files(listener).joinpath("Listener.java").read_text("utf-8")


def test_the_wheel_takes_every_file_that_the_code_reads() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())
    (patterns,) = settings["tool"]["setuptools"]["package-data"].values()
    folders = [p for p in (ROOT / "weir").iterdir() if p.is_dir() and p.name[0] != "_"]
    data = [p for folder in folders for p in folder.resolve().rglob("*.*") if _is_data(p)]
    assert len(data) > 20
    assert [p.name for p in data if not any(fnmatch(p.name, one) for one in patterns)] == []


def _is_data(path: Path) -> bool:
    return path.is_file() and path.suffix != ".py" and "__pycache__" not in path.parts
