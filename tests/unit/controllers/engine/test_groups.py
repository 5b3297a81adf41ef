"""Every group of settings stands in the guide for those who run Weir, with the file that declares it."""

import re

from tests.support.processes import ROOT
from weir.controllers.engine.groups import groups

ROW = re.compile(r"^\| `([\w:]+)` \| .+ \| (.+) \|$", re.MULTILINE)
PER_CLUSTER = ("scale", "guards", "criteria", "shares")
"""Groups that every cluster has for itself."""


def shown_as(name: str) -> str:
    """The name as the guide has it, without those of one cluster, planner or scaler."""
    head, *rest = name.split(":")
    if head in PER_CLUSTER:
        return ":".join([head, "CLUSTER", *(["SCALER"] if len(rest) > 1 else [])])
    return f"{head}:PLANNER" if rest else head


def test_the_guide_names_every_group_and_its_file():
    guide = (ROOT / "docs" / "operating.md").read_text()
    rows = dict(ROW.findall(guide[guide.index("| group | about |") :].split("\n\n")[0]))
    found = {}
    for group in groups(["wide"]):
        module = group.kind.__module__.removeprefix("weir.").replace(".", "/")
        found[shown_as(group.name)] = f"`{module}.py`"
    assert rows.keys() == found.keys()
    files = {name: file for name, file in rows.items() if file.startswith("`")}
    assert files == {name: found[name] for name in files}
