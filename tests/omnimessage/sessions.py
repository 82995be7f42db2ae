"""A small model of a session, for hypothesis: random runs that conform, as a stream and as a Trace."""

from __future__ import annotations

from dataclasses import dataclass, field

from hypothesis import strategies as st

from penguin_harness.omnimessage import (
    Abort,
    ApprovalDecision,
    CompactionBegin,
    CompactionEnd,
    RequestBegin,
    StopReason,
    TokenUsage,
)
from penguin_harness.omnimessage.messages import PARTIALS
from tests.omnimessage.sequences import (
    Said,
    ask,
    call_segment,
    end,
    harness,
    meta,
    output,
    output_segment,
    text_segment,
    thinking_segment,
    tools,
    usage,
)

STATUSES: tuple[StopReason, ...] = ("completed", "completed", "retryable", "fatal", "aborted")


@dataclass
class Session:
    """Both surfaces of a session, as they grow."""

    draw: st.DrawFn
    stream: list[Said] = field(default_factory=list[Said])
    trace: list[Said] = field(default_factory=lambda: [meta()])
    running: list[list[Said]] = field(default_factory=list[list[Said]])
    """What each running tool has yet to say."""
    requests: int = 0
    calls: int = 0

    def emit(self, *said: Said) -> None:
        for payload in said:
            self.stream.append(payload)
            if not isinstance(payload, PARTIALS):
                self.trace.append(payload)

    def interleave(self) -> None:
        """Some tool may get a word in."""
        while self.running and self.draw(st.booleans()):
            tool = self.draw(st.sampled_from(self.running))
            self.emit(tool.pop(0))
            self.running = [left for left in self.running if left]

    def finish_tools(self) -> None:
        while self.running:
            self.interleave()

    def run(self) -> None:
        """One run, up to its end or its abort."""
        self.trace.append(ask())
        if len(self.trace) == 2:
            self.emit(tools())
        for _ in range(self.draw(st.integers(1, 3))):
            if not self.turn():
                return
            self.finish_tools()
            if self.draw(st.booleans()):
                self.emit(harness("Go on."))

    def turn(self) -> bool:
        """One request; whether another may follow."""
        status = self.draw(st.sampled_from(STATUSES))
        undecided = self.request(status)
        match status:
            case "completed":
                self.requests += 1
                self.emit(self.cost(), end())
            case "retryable":
                self.emit(end("retryable", "network", attempt=1, retry_in_ms=2000))
            case "fatal":
                self.finish_tools()
                self.emit(end("fatal", "auth"))
            case _:
                self.emit(end("aborted", "user_abort"))
        self.emit(*undecided)
        self.finish_tools()
        if status == "aborted":
            self.emit(Abort("user_abort"))
        return status in {"completed", "retryable"}

    def cost(self) -> TokenUsage:
        return usage(self.requests)

    def request(self, status: StopReason) -> list[Said]:
        """What the model says, and the outputs that its undecided calls are owed."""
        self.emit(RequestBegin())
        owed: list[Said] = []
        for _ in range(self.draw(st.integers(0, 4))):
            kind = self.draw(st.sampled_from(["text", "thinking", "call"]))
            segment = text_segment("a", "b") if kind == "text" else thinking_segment("c")
            if kind == "call":
                self.calls += 1
                segment = call_segment(f"c{self.calls}")
            self.speak(segment)
            if kind == "call":
                owed += self.decide(f"c{self.calls}", asked=not owed)
        if status != "completed" and self.draw(st.booleans()):
            self.speak(text_segment("Hal", stop=status))
        return owed

    def speak(self, segment: list[Said]) -> None:
        for payload in segment:
            self.emit(payload)
            self.interleave()

    def decide(self, call: str, *, asked: bool) -> list[Said]:
        decision = self.draw(st.sampled_from(["allow", "deny", "never"])) if asked else "never"
        match decision:
            case "allow":
                self.emit(ApprovalDecision("allow", call))
                self.running.append(list(output_segment(call)))
            case "deny":
                self.emit(ApprovalDecision("deny", call), output(call, "Denied.", "aborted"))
            case _ if asked and self.draw(st.booleans()):
                self.emit(output(call, "Unreadable.", "fatal"))
            case _:
                return [output(call, "Not run.", "aborted")]
        return []

    def fail_to_compact(self) -> None:
        self.emit(CompactionBegin("turns", "summarize", 10, 1), harness("Summarize."), RequestBegin())
        self.emit(*text_segment("[summary]"), end("fatal", "rejected"))
        self.emit(CompactionEnd("turns", "summarize", "fatal", 1, "rejected", "No."))


@st.composite
def sessions(draw: st.DrawFn) -> Session:
    """A session of some runs."""
    session = Session(draw)
    for _ in range(draw(st.integers(1, 3))):
        session.run()
        if draw(st.booleans()):
            session.fail_to_compact()
    return session


@st.composite
def disturbed(draw: st.DrawFn) -> list[Said]:
    """A session's stream or Trace with one record deleted, doubled or in another's place."""
    session = draw(sessions())
    said = list(draw(st.sampled_from([session.stream, session.trace])))
    first, second = (draw(st.integers(0, len(said) - 1)) for _ in range(2))
    match draw(st.sampled_from(["delete", "double", "swap"])):
        case "delete":
            del said[first]
        case "double":
            said.insert(second, said[first])
        case _:
            said[first], said[second] = said[second], said[first]
    return said
