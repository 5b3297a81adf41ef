"""The Spark session of a host: exactly N executors at the start, up to M later."""

import atexit
import os
import shutil
import sys
import tempfile
import zipfile
from collections.abc import Mapping
from pathlib import Path

from pyspark.sql import SparkSession

import weir
from weir.pipeline.hosts.pools import FAIR
from weir.pipeline.local.home import lean_home
from weir.pipeline.local.ports import LOOPBACK

PY_FILES = "spark.submit.pyFiles"
_NEVER = "100000s"
# Spark's usual manager of checkpoint files asks programs of the system (stat, chmod) about
# local files, a process each: several times slower than writing the file.
LOCAL_CHECKPOINTS = {
    "spark.sql.streaming.checkpointFileManagerClass": (
        "org.apache.spark.sql.execution.streaming.checkpointing."
        "FileSystemBasedCheckpointFileManager"
    )
}

# Each streaming query with a Python source enters these, from a thread of its own, into one map
# that all such queries share. Where two begin together and the map grows under both, it is broken
# for good, and with it every task of either. What is there from the start makes nothing grow; the
# values are Spark's defaults, and each is overwritten by the one that holds.
_SHARED_ENV = {
    "SPARK_LOCAL_DIRS": "/tmp",
    "SPARK_AUTH_SOCKET_TIMEOUT": "15",
    "SPARK_BUFFER_SIZE": "65536",
    "SPARK_PYTHON_RUNTIME": "PYTHON_WORKER",
}


def create_session(
    master: str,
    name: str,
    *,
    executors: int,
    max_executors: int,
    cores: int = 1,
    memory: str = "512m",
    address: str = LOOPBACK,
    bind: str | None = None,
    local_dir: Path | None = None,
    conf: Mapping[str, str] | None = None,
) -> SparkSession:
    """A session whose executors only Weir adds and removes.

    Standalone ignores `spark.executor.instances`. Dynamic allocation does start an
    exact number, so it is switched on with time-outs that never fire, and its
    manager is stopped as soon as the application is there.

    `address` is where executors reach the driver, `bind` where it listens (the same if not
    given). Where that is not this machine alone, Weir is sent to the executors.
    """
    # The driver and the executors run this very tree, wherever the job is started from.
    root = str(weir.ROOT)
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("SPARK_LOCAL_IP", bind or address)
    if "SPARK_HOME" not in os.environ:
        folder = Path(tempfile.mkdtemp(prefix="weir-"))
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        os.environ["SPARK_HOME"] = str(lean_home(folder))
    builder = SparkSession.builder.master(master).appName(name)
    settings = {
        "spark.driver.host": address,
        "spark.driver.bindAddress": bind or address,
        "spark.driver.memory": "768m",
        "spark.ui.showConsoleProgress": "false",
        "spark.executor.cores": str(cores),
        "spark.executor.memory": memory,
        "spark.cores.max": str(max_executors * cores),
        "spark.dynamicAllocation.enabled": "true",
        "spark.dynamicAllocation.initialExecutors": str(executors),
        "spark.executor.instances": str(executors),  # else Spark warns about it
        "spark.dynamicAllocation.minExecutors": str(min(1, executors)),
        "spark.dynamicAllocation.maxExecutors": str(max_executors),
        "spark.dynamicAllocation.executorIdleTimeout": _NEVER,
        "spark.dynamicAllocation.schedulerBacklogTimeout": _NEVER,
        "spark.dynamicAllocation.shuffleTracking.enabled": "true",
        "spark.decommission.enabled": "true",
        "spark.storage.decommission.enabled": "true",
        "spark.storage.decommission.replicationReattemptInterval": "1s",
        "spark.python.authenticate.socketTimeout": "120s",
        **FAIR,
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.adaptive.enabled": "false",
        "spark.sql.execution.arrow.pyspark.enabled": "true",
        "spark.sql.streaming.stateStore.providerClass": (
            "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
        ),
        "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
        "spark.sql.streaming.metricsEnabled": "false",
        "spark.driver.extraJavaOptions": "-XX:+UseSerialGC -XX:TieredStopAtLevel=1",
        "spark.executor.extraJavaOptions": "-XX:+UseSerialGC -XX:TieredStopAtLevel=1",
    }
    if address == LOOPBACK:  # executors see this very tree
        settings["spark.executorEnv.PYTHONPATH"] = root
        settings["spark.python.daemon.module"] = "weir.pipeline.hosts.daemon"
    else:
        folder = Path(tempfile.mkdtemp(prefix="weir-"))
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        conf = conf_with_weir(str(pack(folder)), conf or {})
    if local_dir is not None:
        settings["spark.local.dir"] = str(local_dir)
        settings["spark.sql.warehouse.dir"] = str(local_dir / "warehouse")
    settings.update(conf or {})
    for key, value in settings.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("WARN")
    spark.sparkContext.environment.update(_SHARED_ENV)
    manager = spark.sparkContext._jsc.sc().executorAllocationManager()
    if manager.isDefined():
        manager.get().stop()
    return spark


def conf_with_weir(weir_file: str, conf: Mapping[str, str]) -> dict[str, str]:
    """These settings, with Weir sent to the executors beside what they send already.

    >>> conf_with_weir("weir.zip", {"spark.submit.pyFiles": "mine.zip", "spark.ui.enabled": "false"})
    {'spark.submit.pyFiles': 'weir.zip,mine.zip', 'spark.ui.enabled': 'false'}
    """
    files = filter(None, (weir_file, conf.get(PY_FILES, "")))
    return {**conf, PY_FILES: ",".join(files)}


def executors_reach(spark: SparkSession, folder: Path) -> bool:
    """Whether executors see what this machine writes into the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=folder, prefix=".weir-") as probe:
        names = spark.sparkContext.parallelize([probe.name], 1)
        return all(names.map(os.path.exists).collect())


def pack(folder: Path) -> Path:
    """Weir as one file that Spark sends to executors on other machines."""
    package, file = Path(weir.__file__).parent, folder / "weir.zip"
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as out:
        for place, folders, names in os.walk(package, followlinks=True):
            folders[:] = [f for f in folders if f not in ("__pycache__", "assets", "components")]
            for name in names:
                if name.endswith((".py", ".java")):
                    found = Path(place) / name
                    out.write(found, Path("weir") / found.relative_to(package))
    return file
