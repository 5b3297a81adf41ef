"""What the cluster manager has granted, which is not yet what is there.

Spark tells an application only of executors that have registered. A Standalone master
says on its web page how many cores it has given to which application; where that page is,
it says itself when asked over Spark's own messages. Other managers: not known.
"""

import json
import logging
import urllib.request
from typing import Any

from py4j.protocol import Py4JError
from pyspark.sql import SparkSession

log = logging.getLogger(__name__)

TIMEOUT_S = 2.0


class Grants:
    """Executors that the manager has granted to one application; None where that is unknown."""

    def __init__(self, spark: SparkSession) -> None:
        context = spark.sparkContext
        self._app_id = context.applicationId
        self._page = (
            _page_of_master(context) if (context.master or "").startswith("spark://") else None
        )

    def granted(self, cores_per_executor: int) -> int | None:
        """Ask the manager now."""
        if self._page is None:
            return None
        try:
            with urllib.request.urlopen(self._page, timeout=TIMEOUT_S) as answer:
                return executors_of(json.load(answer), self._app_id, cores_per_executor)
        except (OSError, ValueError) as error:
            log.debug("the master's page does not answer: %s", error)
            return None


def executors_of(page: dict[str, Any], app_id: str, cores_per_executor: int) -> int | None:
    """From the master's page: executors of an application.

    >>> executors_of({"activeapps": [{"id": "a", "cores": 4}]}, "a", 2)
    2
    """
    for app in page.get("activeapps", ()):
        if app.get("id") == app_id:
            return int(app.get("cores", 0)) // cores_per_executor
    return None


def _page_of_master(context: Any) -> str | None:
    """The address of the master's page as JSON; the first of several masters that answers."""
    jvm, backend = context._jvm, context._jsc.sc().schedulerBackend()
    for master in context.master.removeprefix("spark://").split(","):
        try:
            messages = jvm.org.apache.spark.deploy.master
            request = getattr(getattr(messages, "MasterMessages$BoundPortsRequest$"), "MODULE$")
            any_ = getattr(getattr(jvm.scala.reflect, "ClassTag$"), "MODULE$").Any()
            address = jvm.org.apache.spark.rpc.RpcAddress.fromSparkURL(f"spark://{master}")
            ports = backend.rpcEnv().setupEndpointRef(address, "Master").askSync(request, any_)
            return f"http://{address.host()}:{ports.webUIPort()}/json/"
        except Py4JError as error:  # internal to Spark: it may be another way in another version
            log.info("%s does not say what it grants: %s", master, str(error).splitlines()[0])
    return None
