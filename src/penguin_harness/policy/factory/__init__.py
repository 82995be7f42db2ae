"""The rules that hold in every project: few, certain, for what cannot be taken back."""

from penguin_harness.policy.factory import disks, machine, scripts, services

FACTORY = (*disks.RULES, *machine.RULES, *scripts.RULES, *services.RULES)
"""In the order in which they are looked at."""
