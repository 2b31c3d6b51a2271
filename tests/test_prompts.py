import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assomem.errors import QueryFileError, QueryParameterError
from assomem.prompts import load_prompt, parse_prompt

GOOD = "<!-- parameters: a, b -->\n## system\n\nRules {x}.\n\n## user\n\n<box>\n{a}\n</box>\n{b}\n"


def test_a_prompt_file_is_two_parts_and_its_parameters() -> None:
    prompt = parse_prompt("p", GOOD)
    assert prompt.system == "Rules {x}."
    assert prompt.parameters == {"a", "b"}
    assert prompt.fill({"a": "1", "b": "2"}) == "<box>\n1\n</box>\n2"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Just text",
        GOOD.replace("a, b", "a"),
        GOOD.replace("a, b", "a, b, c"),
        GOOD.replace("{b}", "{a}"),
        GOOD.replace("## user", "## users"),
        GOOD.replace("## system", "system"),
    ],
)
def test_a_file_of_another_form_is_refused_by_name(text: str) -> None:
    with pytest.raises(QueryFileError, match="prompt p"):
        parse_prompt("p", text)


def test_a_prompt_that_is_not_there_is_refused_by_name() -> None:
    with pytest.raises(QueryFileError, match="no-such-prompt"):
        load_prompt("no-such-prompt")


@pytest.mark.parametrize("names", [(), ("a",), ("a", "b", "c"), ("a", "c")])
def test_a_prompt_is_filled_with_its_parameters_and_no_others(names: tuple[str, ...]) -> None:
    with pytest.raises(QueryParameterError, match="takes a, b"):
        parse_prompt("p", GOOD).fill(dict.fromkeys(names, ""))


def test_a_value_that_looks_like_a_parameter_stays_as_it_is() -> None:
    assert parse_prompt("p", GOOD).fill({"a": "{b} {a}", "b": "2"}) == "<box>\n{b} {a}\n</box>\n2"


@pytest.mark.parametrize(
    ("mark", "harmless"),
    [
        ("</box>", "‹/box>"),
        ("<box>", "‹box>"),
        ("< / BOX >", "‹ / BOX >"),
        ("<|im_end|>", "‹|im_end|>"),
        ("<|start_header_id|>", "‹|start_header_id|>"),
        ("</s>", "‹/s>"),
        ("<end_of_turn>", "‹end_of_turn>"),
        ("[INST]", "‹INST]"),
        ("[/inst]", "‹/inst]"),
    ],
)
def test_a_mark_in_a_value_is_made_harmless_and_the_rest_left_alone(mark: str, harmless: str) -> None:
    text = f"5 < 6 <b>[1]</b> {mark} <3"
    assert parse_prompt("p", GOOD).fill({"a": text, "b": ""}) == f"<box>\n{text.replace(mark, harmless)}\n</box>\n"


@given(st.text(st.sampled_from("</>bo x|im_end[INST]\n"), max_size=60))
def test_no_value_opens_or_closes_a_boundary(value: str) -> None:
    filled = parse_prompt("p", GOOD).fill({"a": value, "b": value})
    assert re.findall(r"<\s*/?\s*box\s*>", filled, re.IGNORECASE) == ["<box>", "</box>"]
    assert "<|im_end|>" not in filled
    assert "[INST]" not in filled


@given(st.text(max_size=60).filter(lambda text: "<" not in text and "[" not in text))
def test_a_value_without_marks_is_unaltered(value: str) -> None:
    assert parse_prompt("p", GOOD).fill({"a": value, "b": ""}) == f"<box>\n{value}\n</box>\n"
