"""One suite for all wire protocols: each scenario is written once and played by the strict double of every vendor.

`python -m tests.providers` prints the matrix of scenarios and protocols, and the field cases that are held.
"""
