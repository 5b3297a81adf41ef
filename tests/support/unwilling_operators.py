"""An operator of the demo that does not start wherever this module is hosted."""

from pipeline.operator import Operator
from tests.support.broken_operators import raises

OPERATORS = [Operator("topic_count", raises)]
