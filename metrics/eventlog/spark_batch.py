"""A short Spark application of our own, with our packages on its executors."""

import logging
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import weir
from weir.controllers.model.errors import Unavailable

if TYPE_CHECKING:
    from pyspark import SparkContext


@contextmanager
def application(
    master: str, name: str, packages: Sequence[str], failed: str
) -> Iterator["SparkContext"]:
    """Runs as long as the block; what goes wrong in Spark is the sentence `failed` and why."""
    from py4j.protocol import Py4JError
    from pyspark import SparkConf, SparkContext
    from pyspark.errors import PySparkException

    logging.getLogger("py4j").setLevel(logging.WARNING)
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    if master.startswith("local") or "127.0.0.1" in master or "localhost" in master:
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    conf = SparkConf(loadDefaults=False).setMaster(master).setAppName(name)
    conf.set("spark.ui.enabled", "false").set("spark.ui.showConsoleProgress", "false")
    conf.set("spark.log.level", "ERROR")
    try:
        with tempfile.TemporaryDirectory() as folder, SparkContext(conf=conf) as context:
            context.addPyFile(pack(Path(folder), packages))
            yield context
    except (Py4JError, PySparkException) as error:
        logging.getLogger(__name__).debug(name, exc_info=error)
        lines = str(getattr(error, "java_exception", None) or error).splitlines()
        why = lines[0][:300] if lines else type(error).__name__
        raise Unavailable(f"{failed}: {why}") from None


def pack(folder: Path, packages: Sequence[str]) -> str:
    """Our packages as one archive for the executors."""
    root, target = Path(weir.__file__).parent, folder / "packages" / "weir"
    target.mkdir(parents=True)
    shutil.copy(root / "__init__.py", target)
    for package in packages:
        shutil.copytree(
            root / package,
            target / package,
            ignore=shutil.ignore_patterns("__pycache__"),
        )
    return shutil.make_archive(str(folder / "weir"), "zip", folder / "packages")
