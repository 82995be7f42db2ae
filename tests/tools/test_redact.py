"""Secret values leave in no form that programs print: escaped, encoded, wrapped, or cut into pieces."""

from __future__ import annotations

import base64
import html
import json
import re
import shlex
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penguin_harness.state import vault
from penguin_harness.tools import ToolContext
from penguin_harness.tools.redact import MARK, SHORTEST_SECRET, CleanStream, Redactor
from tests.tools.support import call, make_context, make_toolbox, run

SECRET = "p\"ss/w$rd'+ö\\end 99"
TOKEN = "ghp_0123456789abcdefghijABCDEFGHIJ"
KEY = (
    "-----BEGIN KEY-----\n"
    + "\n".join(f"MIIEv{n}IBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAg{n}A" for n in range(4))
    + "\n-----END"
)
FORMS: dict[str, Callable[[str], str]] = {
    "json": json.dumps,
    "json-utf8": lambda text: json.dumps(text, ensure_ascii=False),
    "json-slashes": lambda text: json.dumps(text).replace("/", r"\/"),
    "json-in-json": lambda text: json.dumps(json.dumps({"key": text})),
    "url": lambda text: quote(text, safe=""),
    "path": quote,
    "form": quote_plus,
    "url-lower": lambda text: re.sub("%..", lambda code: code[0].lower(), quote(text, safe="")),
    "html": html.escape,
    "python": repr,
    "bytes": lambda text: repr(text.encode()),
    "shell": shlex.quote,
    "base64": lambda text: base64.b64encode(text.encode()).decode(),
    "base64-url": lambda text: base64.urlsafe_b64encode(text.encode()).decode(),
    "hex": lambda text: text.encode().hex(),
    "hex-upper": lambda text: text.encode().hex().upper(),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("secret", [SECRET, TOKEN, KEY], ids=["odd", "token", "key"])
def test_every_form_is_hidden(form: str, secret: str) -> None:
    written = FORMS[form](secret)
    shown = Redactor([secret]).redact(f"before {written} after")
    assert MARK in shown
    assert shown.startswith("before ")
    assert shown.endswith(" after")
    assert len(shown) < len("before  after") + len(MARK) + 20, shown


@pytest.mark.parametrize(
    "command",
    ["export -p", "declare -p VALUE", 'printf %q "$VALUE"', 'set -x; : "$VALUE"', "env", "cat /proc/self/environ"],
)
@pytest.mark.parametrize("secret", [SECRET, TOKEN, "it's a 'quoted' one"])
def test_b172_what_a_shell_prints_of_it_is_hidden(command: str, secret: str) -> None:
    done = subprocess.run(["bash", "-c", command], env={"VALUE": secret}, capture_output=True, check=True, timeout=20)
    said = (done.stdout + done.stderr).decode(errors="replace")
    shown = Redactor([secret]).redact(said)
    assert MARK in shown
    assert secret[:6] not in shown
    assert secret[-6:] not in shown


@pytest.mark.parametrize("around", range(6))
@pytest.mark.parametrize("encode", ["base64 -w 20", "base64", "xxd -p -c 10", "od -An -v -tx1 -w1000 | tr -d ' '"])
def test_it_is_hidden_inside_of_what_was_encoded_and_wrapped(around: int, encode: str) -> None:
    text = "x" * around + TOKEN + "y" * 30
    if encode.startswith("xxd"):
        hexadecimal = text.encode().hex()
        said = "\n".join(hexadecimal[at : at + 20] for at in range(0, len(hexadecimal), 20))
    else:
        done = subprocess.run(["sh", "-c", encode], input=text, capture_output=True, text=True, check=True, timeout=20)
        said = done.stdout
    numbered = "".join(f"{number:>6}\t{line}\n" for number, line in enumerate(said.splitlines(), 1))
    for each in (said, said.replace("\n", "\r\n"), said.replace("\n", "\n    "), numbered):
        shown = Redactor([TOKEN]).redact(each)
        assert MARK in shown
        left = shown.replace(MARK, "")
        assert len(left.split("\n", 1)[0]) < len(each)
        for size in (6, 7, 8):
            for form in (base64.b64encode(TOKEN.encode()).decode(), TOKEN.encode().hex()):
                assert form[8 : 8 + size + 4] not in left


def test_a_line_of_a_key_counts_by_itself_and_ordinary_lines_do_not() -> None:
    redactor = Redactor(
        [KEY, '{\n  "type": "service_account",\n  "auth_provider_x509_cert_url": "https://x.example"\n}']
    )
    assert redactor.redact(f"> {KEY.splitlines()[2]} <") == f"> {MARK} <"
    for text in ("-----BEGIN KEY-----", '"type": "service_account"', "auth_provider_x509_cert_url"):
        assert redactor.redact(text) == text


def test_secrets_that_overlap_become_one_mark() -> None:
    redactor = Redactor(["abcdefgh", "efghijkl", "aaaaaa"])
    assert redactor.redact("-abcdefghijkl-") == f"-{MARK}-"
    assert redactor.redact("abcdefghabcdefgh") == MARK * 2
    assert redactor.redact("a" * 1_000) == MARK


def test_numbers_below_one_another_are_no_secret() -> None:
    text = "\n".join(map(str, range(1, 30)))
    assert Redactor(["123456", "1112131415"]).redact(text) == text


@pytest.mark.parametrize("count", [1, 2])
def test_what_is_held_back_is_bounded(count: int) -> None:
    stream = CleanStream(Redactor([TOKEN, "aaaaaaaa"]))
    for piece in ("a", "a\n", "\n", " ", "\n  ", base64.b64encode(TOKEN.encode()).decode()[0] + "\n", "7"):
        shown = sum(len(stream.feed(piece * count)) for _ in range(5_000))
        assert shown > 0
        assert len(stream._held) < 5_000  # pyright: ignore[reportPrivateUsage]


def test_much_output_costs_little() -> None:
    redactor = Redactor([f"{TOKEN}{number}" for number in range(10)])
    stream = CleanStream(redactor)
    piece = "an ordinary line of some program's output, with numbers like 12345\n" * 900
    began = time.process_time()
    for _ in range(100):
        stream.feed(piece)
    assert time.process_time() - began < 6


_WORDS = [SECRET, TOKEN, "aaaaaab", "rd'+ö\\end 99 p\"ss"]
_BASE64 = base64.b64encode(f"x{TOKEN}y".encode()).decode()
_HEX = TOKEN.encode().hex()
pieces = st.lists(
    st.one_of(
        st.sampled_from(_WORDS),
        st.sampled_from([*_WORDS, _BASE64, _HEX]).flatmap(
            lambda text: st.tuples(st.integers(0, len(text)), st.integers(0, len(text))).map(
                lambda cut: text[min(cut) : max(cut)]
            )
        ),
        st.integers(0, len(_BASE64)).map(lambda at: f"{_BASE64[:at]}\n{_BASE64[at:]}"),
        st.integers(0, len(_BASE64)).map(lambda at: f"{_BASE64[:at]}\r\n    12\t{_BASE64[at:]}"),
        st.sampled_from(["\n", "\r", "\r\n", " ", "\t", "1", "a", "aaaaaa", "\n  3", "\t"]),
        st.text(st.characters(codec="utf-8"), max_size=3),
    ),
    max_size=10,
)


@given(pieces)
def test_pieces_are_hidden_like_the_whole(texts: Sequence[str]) -> None:
    redactor = Redactor(_WORDS)
    stream = CleanStream(redactor)
    shown = "".join([*map(stream.feed, texts), stream.flush()])
    assert shown == redactor.redact("".join(texts))
    assert not any(word in shown for word in _WORDS)


@given(pieces, st.integers(1, 5))
def test_the_size_of_the_pieces_does_not_matter(texts: Sequence[str], size: int) -> None:
    text = "".join(texts)
    redactor = Redactor(_WORDS)
    stream = CleanStream(redactor)
    shown = "".join(stream.feed(text[at : at + size]) for at in range(0, len(text), size))
    assert shown + stream.flush() == redactor.redact(text)


async def test_a_mark_is_not_written_in_the_place_of_a_secret(tmp_path: Path) -> None:
    """The model reads the mark, and would write it back."""
    context = make_context(tmp_path)
    context.redactor = Redactor([TOKEN])
    box = make_toolbox(tmp_path, context=context, secrets=[TOKEN])
    path = context.workspace / "settings"
    path.write_text(f"token = {TOKEN}\ncolour = red\n")
    shown = (await run(box, call("read_file", path="settings"))).output
    assert shown == f"     1\ttoken = {MARK}\n     2\tcolour = red"
    refused = (
        await run(box, call("write_file", path="settings", content=f"token = {MARK}\ncolour = blue\n")),
        await run(box, call("edit_file", path="settings", old_text=f"{MARK}\ncolour = red", new_text="x")),
        await run(box, call("edit_file", path="settings", old_text="red", new_text=MARK)),
    )
    for output in refused:
        assert output.stop_reason == "fatal"
        assert "holds secret values" in output.output
    output = await run(box, call("edit_file", path="settings", old_text="red", new_text="blue"))
    assert "-colour = red\n+colour = blue" in output.output
    assert TOKEN not in output.output
    assert path.read_text() == f"token = {TOKEN}\ncolour = blue\n"
    output = await run(box, call("write_file", path="other", content=f"the mark is {MARK}\n"))
    assert output.stop_reason == "completed"


async def test_b171_an_exception_and_its_cause_are_hidden(tmp_path: Path) -> None:
    async def fail(context: ToolContext) -> None:
        """Fail."""
        try:
            raise ValueError(TOKEN)
        except ValueError as error:
            raise RuntimeError(f"cannot log in with {quote(TOKEN)}") from error

    output = await run(make_toolbox(tmp_path, fail, secrets=[TOKEN]), call("fail"))
    assert output.output == f"RuntimeError: cannot log in with {MARK} (caused by ValueError: {MARK})"


def test_the_vault_keeps_no_value_that_could_not_be_hidden() -> None:
    assert vault.SHORTEST >= SHORTEST_SECRET
