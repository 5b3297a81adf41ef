"""A process whose JVM ends, ends too."""

import subprocess
import sys

from weir.pipeline.hosts.jvm import JVM_ENDED

HOST = """
import subprocess, sys, threading, time
from types import SimpleNamespace
from pyspark import SparkContext
from weir.pipeline.hosts.jvm import end_with_jvm

jvm = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
SparkContext._gateway = SimpleNamespace(proc=jvm)
over = threading.Event()
end_with_jvm(over)
time.sleep(1.2)
print("both live", flush=True)
if sys.argv[1] == "stopped":
    over.set()
jvm.kill()
time.sleep(2 if over.is_set() else 600)
"""


def host(how: str) -> "subprocess.CompletedProcess[str]":
    argv = [sys.executable, "-c", HOST, how]
    return subprocess.run(argv, capture_output=True, text=True, timeout=500, check=False)


def test_it_ends_with_its_jvm() -> None:
    done = host("running")
    assert (done.returncode, done.stdout) == (JVM_ENDED, "both live\n"), done.stderr


def test_a_host_that_was_stopped_ends_as_it_should() -> None:
    assert host("stopped").returncode == 0
