"""The adapter against a real HTTP endpoint on loopback with scripted replies."""

import itertools
import json
import logging
import threading
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from assomem.errors import AssoMemError, ModelError, SettingsError
from assomem.models.chat import open_chat_model
from assomem.models.endpoint import Endpoint as ModelEndpoint
from assomem.models.openai_chat import OpenAIChatModel
from assomem.settings import read_settings

_NUMBERS = itertools.count()

SECRET = "sk-canary-key-4711"
PRIVATE = "CANARYWORD"


@dataclass
class Reply:
    status: int = 200
    body: str = ""
    kind: str = "application/json"
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    hangs: bool = False
    cut_off: bool = False


def says(
    content: object,
    finish: object = "stop",
    usage: object = None,
    message: Mapping[str, object] | None = None,
) -> Reply:
    return Reply(
        body=json.dumps(
            {
                "id": "1",
                "object": "chat.completion",
                "created": 1,
                "model": "m",
                "choices": [
                    {
                        "index": 0,
                        "finish_reason": finish,
                        "message": {"role": "assistant", "content": content, **(message or {})},
                    }
                ],
                "usage": usage,
            }
        )
    )


def refuses(status: int, *, param: str | None = None, retry_after: str | None = None) -> Reply:
    error = {"message": f"No: {SECRET} said {PRIVATE}", "type": "t", "param": param, "code": "c"}
    headers = {} if retry_after is None else {"Retry-After": retry_after}
    return Reply(status, json.dumps({"error": error}), headers=headers)


@dataclass
class Endpoint:
    url: str
    requests: list[dict[str, Any]]
    keys: list[str | None]


@contextmanager
def endpoint(*replies: Reply) -> Generator[Endpoint]:
    """An endpoint that gives the replies in order and keeps the requests; those that hang end with it."""
    left, over = list(replies), threading.Event()
    seen = Endpoint("", [], [])

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            size = int(self.headers["Content-Length"])
            seen.requests.append(json.loads(self.rfile.read(size)))
            seen.keys.append(self.headers["Authorization"])
            reply = left.pop(0)
            if reply.hangs:
                over.wait()
                return
            body = reply.body.encode()
            self.send_response(reply.status)
            self.send_header("Content-Type", reply.kind)
            self.send_header("Content-Length", str(len(body) + (100 if reply.cut_off else 0)))
            for name, value in reply.headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)
            self.close_connection = True

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    serving = threading.Thread(target=server.serve_forever, args=(0.01,))
    serving.start()
    # Ports come again, and what is learnt of an endpoint is kept.
    seen.url = f"http://127.0.0.1:{server.server_port}/{next(_NUMBERS)}/v1"
    try:
        yield seen
    finally:
        over.set()
        server.shutdown()
        serving.join()
        server.server_close()
    assert not left, "replies that nobody asked for"


def model(url: str, *, timeout_seconds: float = 20, sends_finish_reason: bool = True) -> OpenAIChatModel:
    return OpenAIChatModel(
        "test-model",
        ModelEndpoint(url, api_key=SECRET, pause_seconds=0.001),
        timeout_seconds=timeout_seconds,
        sends_finish_reason=sends_finish_reason,
    )


def failure(chat: OpenAIChatModel) -> str:
    """The text of the error, checked to hold no secret, nor to hang on to an error that does."""
    with pytest.raises(ModelError) as caught:
        chat.complete("rules", PRIVATE, max_tokens=10)
    error: BaseException | None = caught.value
    assert error.__cause__ is None
    assert error.__context__ is None
    assert SECRET not in str(error)
    assert PRIVATE not in str(error)
    return str(error)


def test_a_whole_answer_is_given_with_what_it_cost() -> None:
    usage = {"prompt_tokens": 12, "completion_tokens": 3, "total_tokens": 15}
    with endpoint(says(" Lisbon [1] ", usage=usage)) as served:
        completion = model(served.url).complete("rules", "Where?", max_tokens=10)
    assert completion.text == "Lisbon [1]"
    assert (completion.finish_reason, completion.input_tokens, completion.output_tokens) == ("stop", 12, 3)
    assert served.keys == [f"Bearer {SECRET}"]
    (request,) = served.requests
    assert request == {
        "model": "test-model",
        "messages": [{"role": "system", "content": "rules"}, {"role": "user", "content": "Where?"}],
        "max_tokens": 10,
        "temperature": 0,
    }


@pytest.mark.parametrize("content", ["", None, " \n", "<think>hm", "<think>hm</think>\n"])
def test_an_empty_answer_is_asked_for_once_more_with_more_room_and_reasoning_is_never_used(
    content: object,
) -> None:
    reasoning = {"reasoning_content": "the secret plan", "reasoning": "the secret plan"}
    with endpoint(says(content, message=reasoning), says("Lisbon")) as served:
        completion = model(served.url).complete("rules", "Where?", max_tokens=10)
    assert completion.text == "Lisbon"
    assert [request["max_tokens"] for request in served.requests] == [10, 40]
    with endpoint(says(content, message=reasoning), says(content, message=reasoning)) as served:
        message = failure(model(served.url))
    assert "empty, twice" in message
    assert "secret plan" not in message


def test_reasoning_at_the_beginning_of_the_text_is_left_out() -> None:
    with endpoint(says("<think>\nthe secret plan\n</think>\n\nLisbon")) as served:
        assert model(served.url).complete("rules", "Where?", max_tokens=10).text == "Lisbon"


def test_what_looks_like_reasoning_later_in_the_text_stays() -> None:
    with endpoint(says("She wrote <think>twice</think>.")) as served:
        text = model(served.url).complete("rules", "What?", max_tokens=10).text
    assert text == "She wrote <think>twice</think>."


@pytest.mark.parametrize(
    ("finish", "says_so"),
    [("length", "limit of tokens"), ("content_filter", "content filter"), (None, "half of one")],
)
def test_half_an_answer_is_asked_for_once_more_and_never_given(finish: object, says_so: str) -> None:
    with endpoint(says("In Lis", finish), says("In Lisbon")) as served:
        assert model(served.url).complete("rules", "Where?", max_tokens=10).text == "In Lisbon"
    with endpoint(says("In Lis", finish), says("In Lis", finish)) as served:
        assert says_so in failure(model(served.url))


def test_an_endpoint_that_never_gives_a_reason_can_be_declared() -> None:
    with endpoint(says("In Lisbon", None)) as served:
        chat = model(served.url, sends_finish_reason=False)
        assert chat.complete("rules", "Where?", max_tokens=10).text == "In Lisbon"


def test_the_cost_of_both_tries_is_counted() -> None:
    usage = {"prompt_tokens": 12, "completion_tokens": 3, "total_tokens": 15}
    with endpoint(says("", usage=usage), says("Lisbon", usage=usage)) as served:
        completion = model(served.url).complete("rules", "Where?", max_tokens=10)
    assert (completion.input_tokens, completion.output_tokens) == (24, 6)


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503])
def test_a_busy_endpoint_is_tried_again(status: int) -> None:
    with endpoint(refuses(status), refuses(status, retry_after="0"), says("Lisbon")) as served:
        assert model(served.url).complete("rules", "Where?", max_tokens=10).text == "Lisbon"
    with endpoint(*[refuses(status)] * 4) as served:
        assert f"HTTP {status}" in failure(model(served.url))


def test_an_endpoint_that_asks_for_more_time_than_there_is_is_not_waited_for() -> None:
    with endpoint(refuses(429, retry_after="3600")) as served:
        assert "busy" in failure(model(served.url))


@pytest.mark.parametrize(
    ("status", "advice"),
    [
        (400, "context too small"),
        (401, "OPENAI_API_KEY"),
        (403, "OPENAI_API_KEY"),
        (404, "ASSOMEM_CHAT_MODEL"),
        (413, "ASSOMEM_EVIDENCE_TOKENS"),
        (422, "HTTP 422"),
    ],
)
def test_a_refusal_is_not_repeated_and_says_what_to_look_at(status: int, advice: str) -> None:
    with endpoint(refuses(status)) as served:
        assert advice in failure(model(served.url))


def test_what_an_endpoint_does_not_take_is_learnt_and_kept() -> None:
    replies = [refuses(400, param="max_tokens"), refuses(400, param="temperature"), says("one"), says("two")]
    with endpoint(*replies) as served:
        chat = model(served.url)
        assert chat.complete("rules", "Where?", max_tokens=10).text == "one"
        assert chat.complete("rules", "Where?", max_tokens=10).text == "two"
    for request in served.requests[2:]:
        assert request["max_completion_tokens"] == 10
        assert "max_tokens" not in request
        assert "temperature" not in request


def test_an_endpoint_that_is_too_slow_is_given_up() -> None:
    with endpoint(Reply(hangs=True)) as served:
        assert "ASSOMEM_CHAT_TIMEOUT_SECONDS" in failure(model(served.url, timeout_seconds=0.3))


def test_an_endpoint_that_is_not_there_is_named_as_the_trouble() -> None:
    with endpoint() as served:
        gone = served.url
    assert "OPENAI_BASE_URL" in failure(model(gone))


@pytest.mark.parametrize(
    "reply",
    [
        Reply(body="<html>hello</html>", kind="text/html"),
        Reply(body="{not json"),
        Reply(body="[]"),
        Reply(body="{}"),
        Reply(body='{"choices": []}'),
        Reply(body='{"choices": [{}]}'),
    ],
)
def test_a_reply_that_is_no_chat_completion_is_a_named_failure(reply: Reply) -> None:
    with endpoint(reply) as served:
        assert "not a chat completion" in failure(model(served.url))


def test_a_reply_that_breaks_off_is_tried_again() -> None:
    whole = says("Lisbon")
    with endpoint(Reply(body=whole.body, cut_off=True), whole) as served:
        assert model(served.url).complete("rules", "Where?", max_tokens=10).text == "Lisbon"


def test_nothing_private_is_logged_at_info_or_above(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    with endpoint(says(""), refuses(500), says("Lisbon"), refuses(401)) as served:
        chat = model(served.url)
        chat.complete(PRIVATE, PRIVATE, max_tokens=10)
        failure(chat)
    assert SECRET not in caplog.text
    assert PRIVATE not in caplog.text


def test_without_a_model_in_the_settings_there_is_none() -> None:
    assert open_chat_model(read_settings(chat_model=None)) is None


def test_the_settings_decide_endpoint_key_and_time() -> None:
    with endpoint(says("Lisbon"), Reply(hangs=True)) as served:
        settings = read_settings(
            chat_model="m", openai_base_url=served.url, openai_api_key=SECRET, chat_timeout_seconds=2
        )
        chat = open_chat_model(settings)
        assert chat is not None
        assert chat.name == "m"
        assert chat.complete("rules", "Where?", max_tokens=10).text == "Lisbon"
        with pytest.raises(ModelError, match="2 seconds"):
            chat.complete("rules", "Where?", max_tokens=10)
    assert served.keys[0] == f"Bearer {SECRET}"


def test_an_endpoint_of_ones_own_needs_no_key() -> None:
    with endpoint(says("Lisbon")) as served:
        chat = open_chat_model(read_settings(chat_model="m", openai_base_url=served.url, openai_api_key=None))
        assert chat is not None
        assert chat.complete("rules", "Where?", max_tokens=10).text == "Lisbon"


@pytest.mark.parametrize(
    ("address", "advice"), [(None, "OPENAI_API_KEY"), ("localhost:8080", "http://"), ("", "http://")]
)
def test_settings_that_cannot_work_are_refused(address: str | None, advice: str) -> None:
    with pytest.raises(SettingsError, match=advice) as caught:
        open_chat_model(read_settings(chat_model="m", openai_base_url=address, openai_api_key=None))
    assert isinstance(caught.value, AssoMemError)
