"""The messages of a request, by the vendor's own field names."""

from __future__ import annotations

from tests.double.gemini.proto import Choice, Kind, Many, Mapped, Message

_schema: dict[str, Kind] = {
    "type": Choice("Type", ("STRING", "NUMBER", "INTEGER", "BOOLEAN", "ARRAY", "OBJECT", "NULL")),
    "format": "string",
    "title": "string",
    "description": "string",
    "nullable": "bool",
    "enum": Many("string"),
    "max_items": "int32",
    "min_items": "int32",
    "required": Many("string"),
    "min_properties": "int32",
    "max_properties": "int32",
    "min_length": "int32",
    "max_length": "int32",
    "pattern": "string",
    "example": "value",
    "property_ordering": Many("string"),
    "default": "value",
    "minimum": "float",
    "maximum": "float",
}
SCHEMA = Message("Schema", _schema)
_schema.update(properties=Mapped(SCHEMA), any_of=Many(SCHEMA), items=SCHEMA)

BLOB = Message("Blob", {"mime_type": "string", "data": "bytes"})
RESPONSE_BLOB = Message("FunctionResponseBlob", {**BLOB.fields, "display_name": "string"})
RESPONSE_PART = Message("FunctionResponsePart", {"inline_data": RESPONSE_BLOB}, frozenset({"inline_data"}))
CALL = Message("FunctionCall", {"id": "string", "name": "string", "args": "struct"})
RESPONSE = Message(
    "FunctionResponse",
    {
        "id": "string",
        "name": "string",
        "response": "struct",
        "parts": Many(RESPONSE_PART),
        "will_continue": "bool",
        "scheduling": Choice("FunctionResponse.Scheduling", ("SILENT", "WHEN_IDLE", "INTERRUPT")),
    },
)
_DATA: dict[str, Kind] = {
    "text": "string",
    "inline_data": BLOB,
    "function_call": CALL,
    "function_response": RESPONSE,
    "file_data": Message("FileData", {"mime_type": "string", "file_uri": "string"}),
    "executable_code": "message",
    "code_execution_result": "message",
    "tool_call": "message",
    "tool_response": "message",
}
PART = Message(
    "Part",
    {
        **_DATA,
        "thought": "bool",
        "thought_signature": "bytes",
        "part_metadata": "struct",
        "media_resolution": "message",
        "video_metadata": "message",
    },
    frozenset(_DATA),
)
CONTENT = Message("Content", {"parts": Many(PART), "role": "string"})

DECLARATION = Message(
    "FunctionDeclaration",
    {
        "name": "string",
        "description": "string",
        "behavior": Choice("FunctionDeclaration.Behavior", ("UNSPECIFIED", "BLOCKING", "NON_BLOCKING")),
        "parameters": SCHEMA,
        "parameters_json_schema": "value",
        "response": SCHEMA,
        "response_json_schema": "value",
    },
)
TOOL = Message(
    "Tool",
    {
        "function_declarations": Many(DECLARATION),
        "google_search_retrieval": "message",
        "code_execution": "message",
        "google_search": "message",
        "computer_use": "message",
        "url_context": "message",
        "file_search": "message",
        "google_maps": "message",
        "mcp_servers": Many("message"),
    },
)
CALLING = Message(
    "FunctionCallingConfig",
    {
        "mode": Choice("FunctionCallingConfig.Mode", ("AUTO", "ANY", "NONE", "VALIDATED")),
        "allowed_function_names": Many("string"),
    },
)
TOOL_CONFIG = Message(
    "ToolConfig",
    {
        "function_calling_config": CALLING,
        "retrieval_config": "message",
        "include_server_side_tool_invocations": "bool",
    },
)
THINKING = Message(
    "ThinkingConfig",
    {
        "include_thoughts": "bool",
        "thinking_budget": "int32",
        "thinking_level": Choice("ThinkingConfig.ThinkingLevel", ("MINIMAL", "LOW", "MEDIUM", "HIGH", "XHIGH")),
    },
)
GENERATION = Message(
    "GenerationConfig",
    {
        "stop_sequences": Many("string"),
        "response_mime_type": "string",
        "response_schema": SCHEMA,
        "response_json_schema": "value",
        "response_modalities": Many("string"),
        "candidate_count": "int32",
        "max_output_tokens": "int32",
        "temperature": "float",
        "top_p": "float",
        "top_k": "float",
        "seed": "int32",
        "presence_penalty": "float",
        "frequency_penalty": "float",
        "response_logprobs": "bool",
        "logprobs": "int32",
        "enable_enhanced_civic_answers": "bool",
        "speech_config": "message",
        "thinking_config": THINKING,
        "image_config": "message",
        "media_resolution": "string",
    },
)
REQUEST = Message(
    "GenerateContentRequest",
    {
        "model": "string",
        "contents": Many(CONTENT),
        "system_instruction": CONTENT,
        "tools": Many(TOOL),
        "tool_config": TOOL_CONFIG,
        "safety_settings": Many(Message("SafetySetting", {"category": "string", "threshold": "string"})),
        "generation_config": GENERATION,
        "cached_content": "string",
        "service_tier": "string",
        "store": "bool",
    },
)
