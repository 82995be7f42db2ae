"""What stands on the user's side: the person's words, steering, what opens a context, what is carried over."""

from __future__ import annotations

from msgspec.structs import replace

from penguin_harness.omnimessage import Text, assistant_text, block, model_message, user_text
from tests.cli.paper import Live


def seen(*texts: Text) -> str:
    page = Live()
    for text in texts:
        page.renderer.show(model_message(text))
    return page.seen


def test_the_person_is_told_from_the_harness_and_steering_from_a_task() -> None:
    said = Text("user", "One\ntwo"), Text("user", block("user_steering", "rather\nthree"), sender="user")
    assert seen(*said, Text("user", "The run stopped.", sender="harness")) == (
        "› One\n  two\n\n↪ rather\n  three\nℹ The run stopped.\n"
    )


def test_what_opens_a_context_is_shortened() -> None:
    summary = block("context_summary", "\n".join(f"row {number}" for number in range(20)))
    shown = seen(Text("user", summary, sender="harness")).splitlines()
    assert shown[0] == "◇ the context begins with:"
    assert shown[1:3] == ["  │ row 0", "  │ row 1"]
    assert shown[7:] == ["  │ … 12 more lines", "  │ row 18", "  │ row 19"]


def test_a_carried_text_is_shown_as_a_question_again() -> None:
    assert seen(replace(Text("user", "What now?"), carried=True)) == "› What now?\n"


def test_a_whole_answer_behind_a_closed_page_is_shown() -> None:
    page = Live()
    page.renderer.close()
    page.renderer.show(user_text("and then?"))
    page.renderer.show(assistant_text("Then this."))
    assert "Then this." in page.seen
