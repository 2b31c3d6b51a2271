"""The adapter with a real language model: what it writes is not to be relied on, how it comes is."""

import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Protocol

from assomem.models.chat import ChatModel, Completion, open_chat_model
from assomem.settings import read_settings


class SmallModel(Protocol):
    base_url: str
    name: str


def opened(small_model: SmallModel, **given: object) -> ChatModel:
    settings = read_settings(
        chat_model=small_model.name, openai_base_url=small_model.base_url, chat_timeout_seconds=200, **given
    )
    chat = open_chat_model(settings)
    assert chat is not None
    return chat


def test_a_real_model_answers_and_says_what_it_cost(small_model: SmallModel) -> None:
    found = opened(small_model).complete("Answer in one word.", "What is the capital of France?", max_tokens=60)
    assert "Paris" in found.text
    assert found.finish_reason == "stop"
    assert 10 < found.input_tokens < 100
    assert 0 < found.output_tokens <= 60


def test_a_real_models_stream_comes_in_pieces_that_make_up_the_whole_and_is_counted(small_model: SmallModel) -> None:
    *pieces, whole = opened(small_model).stream("Answer briefly.", "Name three colours.", max_tokens=40)
    assert isinstance(whole, Completion)
    assert len(pieces) > 1
    assert "".join(map(str, pieces)) == whole.text
    assert whole.finish_reason in {"stop", "length"}
    assert 0 < whole.output_tokens <= 40
    assert whole.input_tokens > 10


def test_a_real_model_is_held_to_a_schema(small_model: SmallModel) -> None:
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {"city": {"type": "string", "enum": ["Paris", "Rome"]}},
        "required": ["city"],
        "additionalProperties": False,
    }
    found = opened(small_model).complete("Reply in JSON.", "Where is the Eiffel Tower?", max_tokens=60, schema=schema)
    assert json.loads(found.text)["city"] in {"Paris", "Rome"}


def test_many_threads_may_ask_a_real_model_at_once(small_model: SmallModel) -> None:
    chat = opened(small_model)

    def ask(number: int) -> object:
        return list(chat.stream("Answer briefly.", f"What is {number} and {number}?", max_tokens=12))[-1]

    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(ask, range(4)))
    assert all(isinstance(one, Completion) and one.text and one.output_tokens <= 12 for one in found)
