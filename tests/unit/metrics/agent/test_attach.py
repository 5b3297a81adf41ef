"""What `attach` says to sessions that it cannot watch."""

import pytest

from weir.controllers.model.errors import InvalidInput
from weir.metrics.agent.agent import attach


def test_a_session_of_spark_connect_gets_a_sentence():
    remote = type("SparkSession", (), {"__module__": "pyspark.sql.connect.session"})()
    with pytest.raises(InvalidInput, match="Spark Connect"):
        attach(remote, "orders", "redis://127.0.0.1:1/0")
