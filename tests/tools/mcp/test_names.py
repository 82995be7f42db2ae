"""What the model calls a server's tool."""

from __future__ import annotations

import itertools
import re

from hypothesis import given
from hypothesis import strategies as st

from penguin_harness.tools.mcp.names import qualified

VALID = re.compile(r"[A-Za-z0-9_-]{1,64}")
names = st.text(st.sampled_from("ab_-. ü"), min_size=1, max_size=40)


def test_a_plain_name_is_the_two_names() -> None:
    assert qualified("github", "create_issue") == "mcp__github__create_issue"
    assert qualified("github", "_hidden__tool") == "mcp__github___hidden__tool"


def test_b161_long_and_odd_names_become_valid_distinct_and_stable() -> None:
    server = "a server with forty characters in a name"
    tools = [*(f"{'tool_with_a_name_of_fifty_characters_but_for_one'}_{end}" for end in "abcdef"), "a.b/c ü", "a.b/c u"]
    found = [qualified(server, tool) for tool in tools]
    assert all(VALID.fullmatch(name) for name in found)
    assert len(set(found)) == len(tools)
    assert found == [qualified(server, tool) for tool in tools]
    assert qualified("s", "a.b/c ü") == "mcp__s__a_b_c__15657ed1"


def test_names_that_would_run_together_stay_apart() -> None:
    pairs = [("a", "b__c"), ("a__b", "c"), ("a_", "b"), ("a", "_b"), ("a b", "c"), ("a_b", "c")]
    assert len({qualified(*pair) for pair in pairs}) == len(pairs)


@given(st.lists(st.tuples(names, names), min_size=2, max_size=6, unique=True))
def test_every_name_is_valid_and_no_two_are_the_same(pairs: list[tuple[str, str]]) -> None:
    found = [qualified(*pair) for pair in pairs]
    assert all(VALID.fullmatch(name) for name in found)
    assert all(one != other for one, other in itertools.combinations(found, 2))
