"""What sessions cost: Traces folded to tokens and US dollars, by request, context, session and tree of children.

Sums are exact and hold at every level. A part without a known price counts its tokens and leaves the dollars open.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from glob import escape
from pathlib import Path
from typing import Literal, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from penguin_harness.contracts import ModelRef
from penguin_harness.errors import PenguinError, SessionError
from penguin_harness.llm.catalog import facts
from penguin_harness.llm.prices import NO_TOKENS, Cost, Price, cost_of
from penguin_harness.omnimessage import (
    CompactionBegin,
    CompactionEnd,
    RequestEnd,
    SessionMeta,
    Subagent,
    TokenCounts,
    TokenUsage,
)
from penguin_harness.trace import Skipped, context_file, read_messages, session_and_number

RequestKind: TypeAlias = Literal["turn", "compaction", "failed"]
PriceOf: TypeAlias = Callable[[ModelRef], Price | None]


class RequestCost(Struct, frozen=True):
    """A request whose tokens were counted: a turn, a step of a compaction, or an attempt that failed."""

    kind: RequestKind
    cost: Cost
    estimated: bool = False
    """The endpoint reported nothing, so the tokens are a guess."""


class ContextCost(Struct, frozen=True):
    """One Trace file."""

    path: str
    model: ModelRef | None
    """None when the file has no readable session_meta."""
    price: Price | None
    requests: tuple[RequestCost, ...]
    uncounted: int
    """Failed attempts of which nobody said what they cost."""
    total: Cost


class Mismatch(Struct, frozen=True):
    """Where a file states another total than its requests add up to."""

    path: str
    where: str
    stated: TokenCounts
    computed: TokenCounts


class MissingChild(Struct, frozen=True):
    """A child session whose Trace cannot be read, so that its cost is in no sum."""

    session_id: str
    reason: str


class SessionCost(Struct, frozen=True):
    """A session, and the tree of sessions below it."""

    session_id: str
    contexts: tuple[ContextCost, ...]
    before: TokenCounts
    """Tokens of files that were not given, as the first one states them; in no sum."""
    own: Cost
    children: tuple[SessionCost, ...]
    missing: tuple[MissingChild, ...]
    total: Cost
    """With all children."""
    mismatches: tuple[Mismatch, ...]
    skipped: tuple[Skipped, ...]
    """Lines that cannot be read."""

    def walk(self) -> Iterator[SessionCost]:
        """This session, and all below it."""
        yield self
        for child in self.children:
            yield from child.walk()


def catalog_price(ref: ModelRef) -> Price | None:
    """The public price of a model, if it is known."""
    known = facts(ref)
    return known.price if known is not None else None


def session_cost(paths: Sequence[Path], *, tree: bool = True, price_of: PriceOf = catalog_price) -> SessionCost:
    """The cost of a session by its Trace files, in order; with `tree` also of its children.

    A child is looked for beside the file, among the sessions of the agent, and among those of the project's other
    agents. Raises TraceError when a file of the session itself cannot be read.
    """
    return _session(paths, price_of, tree=tree, seen=set())


def find_child(path: Path, session_id: str) -> list[Path]:
    """The Trace files of a session that the file at `path` names as its child. Raises SessionError for want of any."""
    traces = path.absolute().parent.parent
    agents = traces.parent.parent
    others = sorted(agents.glob("*/traces")) if agents.name == "agents" else []
    folders = [path.parent, *(context_file(each, session_id, 1).parent for each in (traces, *others))]
    for folder in folders:
        found = [file for file in folder.glob(f"{escape(session_id)}_*.jsonl") if _is_of(file, session_id)]
        if found:
            return sorted(found, key=session_and_number)
    raise SessionError(f"no Trace of it is beside {path.name}, nor with the agents of the project")


def total(costs: Iterable[Cost]) -> Cost:
    """All of them added up."""
    return sum(costs, Cost())


def _session(paths: Sequence[Path], price_of: PriceOf, *, tree: bool, seen: set[str]) -> SessionCost:
    """`seen` are the sessions of the tree so far: each counts once."""
    fold = _Fold(price_of)
    contexts = tuple(map(fold.context, paths))
    session_id = fold.session_id or session_and_number(paths[0])[0]
    seen.add(session_id)
    own = total(context.total for context in contexts)
    children: list[SessionCost] = []
    missing: list[MissingChild] = []
    for child in fold.children if tree else ():
        if child in seen:
            continue
        seen.add(child)
        try:
            children.append(_session(find_child(paths[0], child), price_of, tree=True, seen=seen))
        except PenguinError as error:
            missing.append(MissingChild(child, str(error)))
    whole = own + total(child.total for child in children)
    return SessionCost(
        session_id,
        contexts,
        fold.before,
        own,
        tuple(children),
        tuple(missing),
        replace(whole, complete=whole.complete and not missing),
        tuple(fold.mismatches),
        tuple(fold.skipped),
    )


class _Fold:
    """Takes the files of one session in order, and holds their totals against what they add up to."""

    def __init__(self, price_of: PriceOf) -> None:
        self.session_id = ""
        self.before = NO_TOKENS
        self.children: list[str] = []
        self.mismatches: list[Mismatch] = []
        self.skipped: list[Skipped] = []
        self._price_of = price_of
        self._own = NO_TOKENS
        self._base: TokenCounts | None = None
        """What the stated totals have beyond the requests taken; None while no total was stated."""

    def context(self, path: Path) -> ContextCost:
        """The next file. Raises TraceError when it cannot be read."""
        if not self.session_id and session_and_number(path)[1] == 1:
            self._base = NO_TOKENS
        meta: SessionMeta | None = None
        price: Price | None = None
        requests: list[RequestCost] = []
        kind: RequestKind = "turn"
        uncounted = 0
        for payload in _payloads(path, self.skipped):
            match payload:
                case SessionMeta():
                    meta, price = payload, self._price_of(ModelRef(payload.provider, payload.model_id))
                    self.session_id = self.session_id or payload.session_id
                    self._check(payload.session_usage, path, "session_meta")
                case CompactionBegin() | CompactionEnd():
                    kind = "compaction" if isinstance(payload, CompactionBegin) else "turn"
                case TokenUsage(request=counts):
                    requests.append(RequestCost(kind, cost_of(price, counts), payload.estimated))
                    self._own += counts
                    self._check(payload.session, path, f"token_usage {len(requests)}")
                case RequestEnd(status=status, usage=counts) if status != "completed":
                    if counts is None:
                        uncounted += 1
                        continue
                    requests.append(RequestCost("failed", cost_of(price, counts)))
                    self._own += counts
                case Subagent(session_id=child):
                    self.children.append(child)
                case _:
                    continue
        model = ModelRef(meta.provider, meta.model_id) if meta is not None else None
        whole = total(request.cost for request in requests)
        return ContextCost(str(path), model, price, tuple(requests), uncounted, whole)

    def _check(self, stated: TokenCounts | None, path: Path, where: str) -> None:
        """A total that does not fit is reported once: what follows is held against it."""
        if stated is None:
            return
        base = TokenCounts.of(
            cache_read=stated.cache_read - self._own.cache_read,
            cache_write=stated.cache_write - self._own.cache_write,
            output=stated.output - self._own.output,
        )
        if self._base is None:
            self.before = base
        elif stated != self._base + self._own:
            self.mismatches.append(Mismatch(str(path), where, stated, self._base + self._own))
        self._base = base


def _payloads(path: Path, skipped: list[Skipped]) -> Iterator[object]:
    return (message.payload for message in read_messages(path, skipped) if message.origin is None)


def _is_of(path: Path, session_id: str) -> bool:
    return session_and_number(path)[0] == session_id
