"""Spark Standalone from the pip package: one master and one worker on this machine."""

import json
import subprocess
import sys
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

from weir.controllers.model.errors import Unavailable
from weir.pipeline.local.home import SPARK_HOME, lean_home
from weir.pipeline.local.ports import LOOPBACK, free_port, listening
from weir.pipeline.local.process import end, spawn, wait_for

_SPARK_CLASS = str(SPARK_HOME / "bin" / "spark-class")


class Standalone:
    """A master and a worker, started by `spark-class`; `url` is for applications.

    The worker offers more cores than the machine may have: what an executor's core
    means is up to the operators, and those that wait for a remote service need
    slots rather than processors.
    """

    def __init__(self, folder: Path, cores: int = 16, memory: str = "16g") -> None:
        self.folder = folder
        self.cores = cores
        self.memory = memory
        self.port = free_port(7077)
        self.ui_port = free_port(8080)
        self.worker_ui_port = free_port(8081)
        self.url = f"spark://{LOOPBACK}:{self.port}"
        self.ui_url = f"http://{LOOPBACK}:{self.ui_port}"
        self.processes: list[subprocess.Popen[bytes]] = []

    @property
    def master_argv(self) -> list[str]:
        """The command that runs the master."""
        return [
            _SPARK_CLASS, "org.apache.spark.deploy.master.Master",
            "--host", LOOPBACK, "--port", str(self.port), "--webui-port", str(self.ui_port),
        ]  # fmt: skip

    @property
    def worker_argv(self) -> list[str]:
        """The command that runs the worker."""
        return [
            _SPARK_CLASS, "org.apache.spark.deploy.worker.Worker",
            "--host", LOOPBACK, "--webui-port", str(self.worker_ui_port),
            "--cores", str(self.cores), "--memory", self.memory,
            "--work-dir", str(self.folder / "work"), self.url,
        ]  # fmt: skip

    @property
    def environment(self) -> dict[str, str]:
        """What both need: loopback only, small heaps, and a master that survives a restart."""
        java = (
            "-XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Dspark.deploy.recoveryMode=FILESYSTEM "
            f"-Dspark.deploy.recoveryDirectory={self.folder / 'recovery'}"
        )
        return {
            "SPARK_HOME": str(lean_home(self.folder)),
            "SPARK_LOCAL_IP": LOOPBACK,
            "SPARK_NO_DAEMONIZE": "1",
            "SPARK_DAEMON_MEMORY": "256m",
            "SPARK_LOCAL_DIRS": str(self.folder / "local"),
            "SPARK_DAEMON_JAVA_OPTS": java,
            "PYSPARK_PYTHON": sys.executable,
        }

    def start(self, timeout_s: float = 90.0) -> "Standalone":
        """Start both and wait until the master knows the worker."""
        self._launch("master", self.master_argv, self.master_ready, timeout_s)
        self._launch("worker", self.worker_argv, self.worker_ready, timeout_s)
        return self

    def _launch(
        self, part: str, argv: list[str], ready: Callable[[], bool], timeout_s: float
    ) -> None:
        log_file = self.folder / f"{part}.log"
        self.processes.append(spawn(argv, log_file, self.environment))
        if not wait_for(ready, self.processes[-1], timeout_s):
            self.stop()
            raise Unavailable(f"Spark's {part} did not start; see {log_file}")

    def master_ready(self) -> bool:
        """Does the master take applications and workers?"""
        return listening(self.port) and listening(self.ui_port)

    def worker_ready(self) -> bool:
        """Does the master know the worker?"""
        try:
            return int(self.state()["aliveworkers"]) > 0
        except ValueError:  # its pages answer before they know anything
            return False

    def state(self) -> dict[str, Any]:
        """What the master says about itself, its workers and applications."""
        with urllib.request.urlopen(f"{self.ui_url}/json/", timeout=5) as answer:
            found: dict[str, Any] = json.load(answer)
            return found

    def stop(self) -> None:
        """Stop worker (and with it every executor), then master."""
        for process in reversed(self.processes):
            end(process)
        self.processes = []
