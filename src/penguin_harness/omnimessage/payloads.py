"""What is said: the payloads of `model_msg`, complete and as streaming fragments.

Each payload is a frozen value whose tag is its name on the wire. Complete payloads are recorded in the Trace and sent
to the model; fragments only stream.
"""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from msgspec import UNSET, Meta, Raw, Struct, UnsetType

StopReason: TypeAlias = Literal["completed", "aborted", "retryable", "fatal"]
Role: TypeAlias = Literal["user", "assistant"]
Sender: TypeAlias = Literal["user", "parent_agent", "harness", "server"]
FragmentKind: TypeAlias = Literal["start", "delta", "stop"]


def doc(text: str) -> Meta:
    """The description of a field, for the JSON Schema and the protocol reference."""
    return Meta(description=text)


StopField: TypeAlias = Annotated[StopReason, doc("How it ended; absent means `completed`.")]
UserRole: TypeAlias = Annotated[Literal["user"], doc("Always `user`: the harness answers the model.")]
AssistantRole: TypeAlias = Annotated[Literal["assistant"], doc("Always `assistant`: the model says it.")]
AnyRole: TypeAlias = Annotated[Role, doc("Who says it: `user` or `assistant`.")]
CallId: TypeAlias = Annotated[str, doc("Pairs a call with its output; unique within a Trace file.")]
Fidelity: TypeAlias = Annotated[Raw | UnsetType, doc("Opaque provider data: a JSON object, kept byte for byte.")]
SenderField: TypeAlias = Annotated[Sender | None, doc("Who produced a user-role message; absent means the person.")]
Carried: TypeAlias = Annotated[bool, doc("True on a copy of an unanswered message from the file before.")]
Base64: TypeAlias = Annotated[str, doc("The bytes, in base64.")]
MimeType: TypeAlias = Annotated[str, doc("The media type of the bytes, as `image/png`.")]
Images: TypeAlias = Annotated[tuple[str, ...] | None, doc("Images as data URLs.")]
KindField: TypeAlias = Annotated[FragmentKind, doc("Place in its segment: `start`, `delta` or `stop`.")]


class Payload(Struct, frozen=True, omit_defaults=True, tag_field="type", gc=False):
    """A value: equal when its fields are equal, never changed after it is built, so it is in no cycle."""

    @property
    def type(self) -> str:
        """The name on the wire, as `partial_tool_call`."""
        return str(self.__struct_config__.tag)


class Text(Payload, frozen=True, tag="text"):
    """A text of the person, the harness or the model."""

    role: AnyRole
    text: Annotated[str, doc("The whole text.")]
    sender: SenderField = None
    carried: Carried = False
    stop_reason: StopField = "completed"
    fidelity: Fidelity = UNSET


class Thinking(Payload, frozen=True, tag="thinking"):
    """What the model thought; may be empty when only its fidelity matters."""

    role: AssistantRole
    thinking: Annotated[str, doc("The readable part; may be empty.")]
    stop_reason: StopField = "completed"
    fidelity: Fidelity = UNSET


class InlineThinking(Payload, frozen=True, tag="inline_thinking"):
    """Binary content inside the model's thinking."""

    role: AssistantRole
    data: Base64
    mime_type: MimeType
    stop_reason: StopField = "completed"
    fidelity: Fidelity = UNSET


class ToolCall(Payload, frozen=True, tag="tool_call"):
    """The model asks for a tool; answered by exactly one `tool_call_output`."""

    role: AssistantRole
    name: Annotated[str, doc("The tool's name as the model wrote it.")]
    arguments: Annotated[str, doc("The JSON string exactly as the model wrote it; blank means an empty object.")]
    tool_call_id: CallId
    stop_reason: StopField = "completed"
    fidelity: Fidelity = UNSET


class ToolCallOutput(Payload, frozen=True, tag="tool_call_output"):
    """The answer to a tool call: a result, a refusal or an error."""

    role: UserRole
    output: Annotated[str, doc("What the model reads.")]
    tool_call_id: CallId
    images: Images = None
    stop_reason: StopField = "completed"


class ImageUrl(Payload, frozen=True, tag="image_url"):
    """An image that the user shows."""

    role: UserRole
    image_url: Annotated[str, doc("A web URL or a data URL.")]
    sender: SenderField = None
    carried: Carried = False
    stop_reason: StopField = "completed"


class InlineData(Payload, frozen=True, tag="inline_data"):
    """Binary content of the user or the model."""

    role: AnyRole
    data: Base64
    mime_type: MimeType
    sender: SenderField = None
    carried: Carried = False
    stop_reason: StopField = "completed"
    fidelity: Fidelity = UNSET


class PartialText(Payload, frozen=True, tag="partial_text"):
    """A fragment of the model's text."""

    role: AnyRole
    event_type: KindField
    text: Annotated[str, doc("What is added; empty on `start` and `stop`.")]
    stop_reason: StopField = "completed"


class PartialThinking(Payload, frozen=True, tag="partial_thinking"):
    """A fragment of the model's thinking."""

    role: AssistantRole
    event_type: KindField
    thinking: Annotated[str, doc("What is added; empty on `start` and `stop`.")]
    stop_reason: StopField = "completed"


class PartialToolCall(Payload, frozen=True, tag="partial_tool_call"):
    """A fragment of a call's arguments."""

    role: AssistantRole
    event_type: KindField
    name: Annotated[str, doc("The tool's name, on every fragment.")]
    arguments: Annotated[str, doc("What is added to the JSON string; empty on `start` and `stop`.")]
    tool_call_id: CallId
    stop_reason: StopField = "completed"


class PartialToolCallOutput(Payload, frozen=True, tag="partial_tool_call_output"):
    """A fragment of a tool's output."""

    role: UserRole
    event_type: KindField
    output: Annotated[str, doc("What is added; empty on `start` and `stop`.")]
    tool_call_id: CallId
    images: Annotated[tuple[str, ...] | None, doc("The whole set of images, on one delta.")] = None
    stop_reason: StopField = "completed"


AssistantContent: TypeAlias = Text | Thinking | InlineThinking | ToolCall | InlineData
"""What a model may produce, complete."""

UserContent: TypeAlias = Text | ImageUrl | InlineData
"""What a caller may pass to a run."""

CompletePayload: TypeAlias = Text | Thinking | InlineThinking | ToolCall | ToolCallOutput | ImageUrl | InlineData
"""The seven that are recorded and that the model sees."""

AssistantPartial: TypeAlias = PartialText | PartialThinking | PartialToolCall
PartialPayload: TypeAlias = PartialText | PartialThinking | PartialToolCall | PartialToolCallOutput
"""The four that only stream."""

ModelPayload: TypeAlias = (
    Text
    | Thinking
    | InlineThinking
    | ToolCall
    | ToolCallOutput
    | ImageUrl
    | InlineData
    | PartialText
    | PartialThinking
    | PartialToolCall
    | PartialToolCallOutput
)
