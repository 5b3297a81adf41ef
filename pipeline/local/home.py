"""Spark's folder without its zipped Python packages.

Spark puts `python/lib/pyspark.zip` before everything else on the path of each Python process
that it starts. From a zip Python recompiles every module, which takes a second of each
start of a query, of a move and of an executor's first task. Without the zip the very same
package is found where pip installed it, compiled.
"""

from pathlib import Path

import pyspark

SPARK_HOME = Path(pyspark.__file__).parent
_PARTS = ("bin", "sbin", "jars")


def lean_home(folder: Path) -> Path:
    """A folder for the environment variable SPARK_HOME, made of links."""
    home = folder / "spark-home"
    home.mkdir(parents=True, exist_ok=True)
    for part in _PARTS:
        if not (home / part).exists():
            (home / part).symlink_to(SPARK_HOME / part)
    return home
