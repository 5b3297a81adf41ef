"""What a cluster's page and its card on the control room are drawn by."""

from typing import Any

from weir.controllers.model.sample import Cluster


def cluster_facts(cluster: Cluster) -> list[Any]:
    """All of a cluster whose change needs its page to be drawn again."""
    return [
        cluster.name, cluster.can_scale, cluster.hosted, cluster.mode.value, cluster.ui_url,
        cluster.app_id, cluster.spark_version, cluster.cores_per_executor,
        cluster.min_executors, cluster.max_executors,
    ]  # fmt: skip
