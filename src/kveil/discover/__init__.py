"""Dependencies of a table as it stands: find those that hold, test those that are declared, show where one fails."""

from kveil.discover.columns import Columns
from kveil.discover.describe import describe_rules
from kveil.discover.offending import MultisetDependency, multiset_dependency

__all__ = ["Columns", "MultisetDependency", "describe_rules", "multiset_dependency"]
