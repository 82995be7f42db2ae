"""What every test may use."""

from tests.double.fixtures import double, double_process

__all__ = ["double", "double_process"]
