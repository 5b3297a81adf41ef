"""The parent of an executor's Python workers, with the heavy imports already done.

Spark forks every worker from one daemon per executor, and a task that reads, maps
and writes in Python uses three. Importing Arrow, pandas and our own modules before
the fork instead of after it saves seconds at each worker's first task, and so most
of a cold start and of the pause of a move.
"""

import gc

import pandas  # noqa: F401
import pyarrow.compute
import pyarrow.ipc  # noqa: F401
import pyspark.sql.worker.plan_data_source_read
import pyspark.sql.worker.write_into_data_source
import pyspark.worker  # noqa: F401
import redis  # noqa: F401
from pyspark.daemon import manager

if __name__ == "__main__":
    gc.freeze()  # workers share these pages; collecting must not copy them
    manager()
