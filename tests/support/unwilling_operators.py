"""An operator of the demo that does not start wherever this module is hosted."""

from tests.support.broken_operators import raises
from weir.pipeline.hosts.operator import Operator

OPERATORS = [Operator("topic_count", raises)]
