"""Every benchmark can be begun: it loads with the code as it is now, and says what it takes."""

import importlib
from pathlib import Path

import pytest

import benchmarks

ROOT = Path(benchmarks.__file__).parent
MODULES = sorted(
    ".".join(path.relative_to(ROOT.parent).with_suffix("").parts)
    for path in ROOT.rglob("*.py")
    if path.name != "__init__.py"
)


@pytest.mark.parametrize("name", MODULES)
def test_it_loads_and_says_what_it_takes(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    module = importlib.import_module(name)
    if '__name__ == "__main__"' not in Path(str(module.__file__)).read_text():
        return  # a part of others
    monkeypatch.setattr("sys.argv", [name, "--help"])
    with pytest.raises(SystemExit) as end:
        module.main()
    assert end.value.code == 0
    assert "usage:" in capsys.readouterr().out
