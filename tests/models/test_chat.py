"""The adapter against a real HTTP endpoint on loopback with scripted replies."""

import itertools
import json
import logging
import threading
import time
from collections.abc import Callable, Generator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from assomem.errors import AssoMemError, ModelError, SettingsError
from assomem.models.chat import Completion, open_chat_model
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
    drips_seconds: float = 0.0
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


def event(content: object = None, finish: object = None, **further: object) -> str:
    choice = {"index": 0, "delta": {} if content is None else {"content": content}, "finish_reason": finish}
    return f"data: {json.dumps({'object': 'chat.completion.chunk', 'choices': [choice], **further})}\n\n"


def streams(*events: str, done: bool = True, cut_off: bool = False) -> Reply:
    body = "".join(events) + ("data: [DONE]\n\n" if done else "")
    return Reply(body=body, kind="text/event-stream", cut_off=cut_off)


def refuses(status: int, *, param: str | None = None, retry_after: str | None = None) -> Reply:
    error = {"message": f"No: {SECRET} said {PRIVATE}", "type": "t", "param": param, "code": "c"}
    headers = {} if retry_after is None else {"Retry-After": retry_after}
    return Reply(status, json.dumps({"error": error}), headers=headers)


@dataclass
class Endpoint:
    url: str
    requests: list[dict[str, Any]]
    keys: list[str | None]
    paths: list[str]
    headers: list[Mapping[str, str]]


@contextmanager
def endpoint(*replies: Reply, answer: Callable[[Mapping[str, Any]], Reply] | None = None) -> Generator[Endpoint]:
    """An endpoint that gives the replies in order, or those of `answer`, and keeps the requests.

    Replies that hang end with it.
    """
    left, over = list(replies), threading.Event()
    seen = Endpoint("", [], [], [], [])

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            size = int(self.headers["Content-Length"])
            seen.requests.append(json.loads(self.rfile.read(size)))
            seen.keys.append(self.headers["Authorization"])
            seen.paths.append(self.path)
            seen.headers.append({name.lower(): value for name, value in self.headers.items()})
            reply = left.pop(0) if answer is None else answer(seen.requests[-1])
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
            if reply.drips_seconds:
                with suppress(ConnectionError):
                    for byte in body:
                        self.wfile.write(bytes([byte]))
                        over.wait(reply.drips_seconds)
            else:
                with suppress(ConnectionError):
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


SCHEMA: dict[str, object] = {"type": "object", "properties": {}, "additionalProperties": False}


def form_of(request: Mapping[str, Any]) -> str | None:
    return request.get("response_format", {}).get("type")


def schema_form_refused(request: Mapping[str, Any]) -> bool:
    return form_of(request) == "json_schema"


def any_form_refused(request: Mapping[str, Any]) -> bool:
    return form_of(request) is not None


def word_json_wanted(request: Mapping[str, Any]) -> bool:
    said = " ".join(message["content"] for message in request["messages"])
    return form_of(request) == "json_object" and "json" not in said.lower()


def schema_refused_and_word_wanted(request: Mapping[str, Any]) -> bool:
    return schema_form_refused(request) or word_json_wanted(request)


def nothing_refused(request: Mapping[str, Any]) -> bool:
    del request
    return False


@pytest.mark.parametrize("status", [400, 422])
@pytest.mark.parametrize(
    ("refused", "word", "forms"),
    [
        (schema_form_refused, "JSON", ["json_schema", "json_object", "json_object", "json_object"]),
        (any_form_refused, "JSON", ["json_schema", "json_object", None, None, None]),
        (schema_refused_and_word_wanted, "a list", ["json_schema", "json_object", None, None, None]),
        (nothing_refused, "JSON", ["json_schema", "json_schema", "json_schema"]),
    ],
)
def test_a_form_that_an_endpoint_refuses_is_tried_once_whoever_asks(
    status: int, refused: Callable[[Mapping[str, Any]], bool], word: str, forms: list[str | None]
) -> None:
    def answer(request: Mapping[str, Any]) -> Reply:
        return refuses(status) if refused(request) else says('{"clues": []}')

    with endpoint(answer=answer) as served:
        for _ in range(3):
            found = model(served.url).complete(f"Reply with {word}.", "?", max_tokens=10, schema=SCHEMA)
            assert found.text == '{"clues": []}'
    assert [form_of(request) for request in served.requests] == forms


def test_many_threads_find_out_together_which_form_an_endpoint_takes() -> None:
    def answer(request: Mapping[str, Any]) -> Reply:
        return refuses(400) if any_form_refused(request) else says("{}")

    with endpoint(answer=answer) as served, ThreadPoolExecutor(8) as pool:
        chat = model(served.url)

        def ask(number: int) -> str:
            return chat.complete("JSON", f"{number}", max_tokens=10, schema=SCHEMA).text

        assert set(pool.map(ask, range(16))) == {"{}"}
    assert sum(form_of(request) is not None for request in served.requests) == 2


def test_a_prompt_that_is_refused_in_every_form_teaches_nothing_about_forms() -> None:
    with endpoint(*[refuses(400)] * 3, says("{}")) as served:
        chat = model(served.url)
        with pytest.raises(ModelError) as caught:
            chat.complete("rules", "far too long", max_tokens=10, schema=SCHEMA)
        assert caught.value.tries == ("refused",) * 3
        chat.complete("rules", "short", max_tokens=10, schema=SCHEMA)
    assert form_of(served.requests[-1]) == "json_schema"


def test_a_schema_is_sent_as_it_is_and_strictly() -> None:
    with endpoint(says("{}")) as served:
        model(served.url).complete("rules", "?", max_tokens=10, schema=SCHEMA)
    assert served.requests[0]["response_format"]["json_schema"] == {
        "name": "reply",
        "strict": True,
        "schema": SCHEMA,
    }


def streamed(chat: OpenAIChatModel) -> tuple[list[str], Completion]:
    *pieces, whole = chat.stream("rules", "Where?", max_tokens=10)
    assert isinstance(whole, Completion)
    assert "".join(map(str, pieces)) == whole.text
    return [str(piece) for piece in pieces], whole


def test_a_stream_comes_in_pieces_and_ends_with_the_whole_and_what_it_cost() -> None:
    counted = event(usage={"prompt_tokens": 12, "completion_tokens": 3}, choices=list[object]())
    with endpoint(streams(event("In"), event(" Lisbon"), event(finish="stop"), counted)) as served:
        pieces, whole = streamed(model(served.url))
    assert pieces == ["In", " Lisbon"]
    assert (whole.text, whole.finish_reason, whole.input_tokens, whole.output_tokens) == ("In Lisbon", "stop", 12, 3)
    assert served.requests[0]["stream"] is True
    assert served.requests[0]["stream_options"] == {"include_usage": True}


@pytest.mark.parametrize("status", [400, 422])
def test_an_endpoint_that_does_not_count_streams_is_asked_to_once(status: int) -> None:
    reply = streams(event("Lisbon", "stop"))
    with endpoint(refuses(status), reply, reply) as served:
        for _ in range(2):
            assert streamed(model(served.url))[1].text == "Lisbon"
    assert ["stream_options" in request for request in served.requests] == [True, False, False]


@pytest.mark.parametrize(
    "deltas",
    [
        ["<think>secret</think>\n\n", "Lis", "bon"],
        ["<th", "ink>sec", "ret</th", "ink>", "\n", "Lis", "bon"],
        [" \n<Reasoning>secret", " </reasoning>Lis", "bon"],
        ["", " ", "Lis", "bon", "\n "],
    ],
)
def test_reasoning_is_no_part_of_a_stream(deltas: list[str]) -> None:
    reasoning = event("").replace('"content"', '"reasoning_content": "secret", "content"')
    with endpoint(streams(reasoning, *map(event, deltas), event(finish="stop"))) as served:
        pieces, whole = streamed(model(served.url))
    assert whole.text == "Lisbon"
    assert "secret" not in "".join(pieces)


@pytest.mark.parametrize(
    ("deltas", "text"),
    [
        (["<think>secret"], ""),
        (["<thin"], "<thin"),
        (["<b>", "Lisbon</b> <think>x"], "<b>Lisbon</b> <think>x"),
        (["a  ", " b"], "a   b"),
        ([None, "a", None], "a"),
    ],
)
def test_what_only_looks_like_reasoning_stays_in_a_stream(deltas: list[str | None], text: str) -> None:
    with endpoint(streams(*map(event, deltas), event(finish="stop"))) as served:
        assert streamed(model(served.url))[1].text == text


@pytest.mark.parametrize("cut_off", [True, False])
def test_a_stream_that_breaks_off_gives_what_came_without_a_reason(cut_off: bool) -> None:
    reply = streams(event("In"), event(" Lis"), done=not cut_off, cut_off=cut_off)
    with endpoint(reply, reply) as served:
        pieces, whole = streamed(model(served.url))
        assert pieces == ["In", " Lis"]
        assert whole.finish_reason is None
        _, declared = streamed(model(served.url, sends_finish_reason=False))
    assert declared.finish_reason == (None if cut_off else "stop")


@pytest.mark.parametrize("finish", ["length", "content_filter"])
def test_half_a_stream_is_marked_as_half(finish: str) -> None:
    with endpoint(streams(event("In Lis"), event(finish=finish))) as served:
        assert streamed(model(served.url))[1].half


def test_an_endpoint_that_does_not_stream_gives_all_at_once() -> None:
    with endpoint(says("In Lisbon", usage={"prompt_tokens": 1, "completion_tokens": 2})) as served:
        pieces, whole = streamed(model(served.url))
    assert pieces == ["In Lisbon"]
    assert (whole.finish_reason, whole.output_tokens) == ("stop", 2)


def test_a_busy_endpoint_is_asked_again_for_a_stream_before_its_first_piece() -> None:
    with endpoint(refuses(429), refuses(500), streams(event("Lisbon", "stop"))) as served:
        _, whole = streamed(model(served.url))
    assert whole.text == "Lisbon"
    assert whole.failed_tries == ("rate_limited", "server_error")


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (Reply(body="<html>hello</html>", kind="text/html"), "not_a_completion"),
        (Reply(body="data: {not json\n\n", kind="text/event-stream"), "not_a_completion"),
        (streams(event("In"), "data: [1, 2]\n\n"), "not_a_completion"),
        (streams(event("In"), f'data: {{"error": {{"message": "{SECRET} {PRIVATE}"}}}}\n\n'), "server_error"),
        (refuses(401), "key_refused"),
        (refuses(413), "too_long"),
    ],
)
def test_a_stream_that_fails_says_how(reply: Reply, kind: str) -> None:
    with endpoint(reply) as served, pytest.raises(ModelError) as caught:
        list(model(served.url).stream("rules", PRIVATE, max_tokens=10))
    assert caught.value.kind == kind
    assert SECRET not in str(caught.value)
    assert PRIVATE not in str(caught.value)
    assert caught.value.__context__ is None


def test_a_stream_that_nobody_reads_on_is_let_go() -> None:
    with endpoint(streams(*[event("word ")] * 1000)) as served:
        stream = model(served.url).stream("rules", "?", max_tokens=10)
        assert next(stream) == "word"
        del stream


def test_an_answer_that_drips_is_given_up_when_the_time_is_over() -> None:
    with endpoint(replace(says("Lisbon"), drips_seconds=0.05)) as served:
        started = time.monotonic()
        assert "ASSOMEM_CHAT_TIMEOUT_SECONDS" in failure(model(served.url, timeout_seconds=0.4))
        assert time.monotonic() - started < 2
    with endpoint(replace(streams(*[event("word ")] * 5), drips_seconds=0.05)) as served:
        with pytest.raises(ModelError) as caught:
            list(model(served.url, timeout_seconds=0.4).stream("rules", "?", max_tokens=10))
        assert caught.value.kind == "timeout"


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (refuses(400), "refused"),
        (refuses(401), "key_refused"),
        (refuses(403), "key_refused"),
        (refuses(404), "not_found"),
        (refuses(413), "too_long"),
        (refuses(418), "refused"),
        (refuses(429, retry_after="4000"), "rate_limited"),
        (Reply(body="{}"), "not_a_completion"),
    ],
)
def test_a_failure_says_its_kind(reply: Reply, kind: str) -> None:
    with endpoint(reply) as served, pytest.raises(ModelError) as caught:
        model(served.url).complete("rules", "?", max_tokens=10)
    assert (caught.value.kind, caught.value.tries) == (kind, (kind,))


@pytest.mark.parametrize(
    ("replies", "kind"),
    [
        ([says("")] * 2, "empty"),
        ([says("", "length")] * 2, "empty"),
        ([says("x", "length")] * 2, "cut_off"),
        ([says("x", None)] * 2, "cut_off"),
        ([says("x", "content_filter")] * 2, "filtered"),
        ([refuses(500)] * 4, "server_error"),
    ],
)
def test_every_try_of_a_failure_is_told(replies: list[Reply], kind: str) -> None:
    with endpoint(*replies) as served, pytest.raises(ModelError) as caught:
        model(served.url).complete("rules", "?", max_tokens=10)
    assert caught.value.tries == (kind,) * len(replies)


def test_the_tries_before_an_answer_are_told() -> None:
    with endpoint(refuses(429), says(""), refuses(503), says("Lisbon")) as served:
        found = model(served.url).complete("rules", "?", max_tokens=10)
    assert found.failed_tries == ("rate_limited", "empty", "server_error")


def test_azure_is_called_by_deployment_and_version_with_its_own_header() -> None:
    with endpoint(says("Lisbon")) as served:
        base = served.url.removesuffix("/v1")
        chat = open_chat_model(
            read_settings(
                chat_model="my-deployment",
                openai_base_url=base,
                openai_api_key=SECRET,
                openai_api_version="2024-10-21",
            )
        )
        assert chat is not None
        assert chat.complete("rules", "Where?", max_tokens=10).text == "Lisbon"
    (path,) = served.paths
    assert path.endswith("/openai/deployments/my-deployment/chat/completions?api-version=2024-10-21")
    assert served.headers[0]["api-key"] == SECRET


def test_an_organisation_is_named_when_there_is_one_and_the_environment_is_not_asked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with endpoint(says("a"), says("b")) as served:
        given = {"chat_model": "m", "openai_base_url": served.url, "openai_api_key": SECRET}
        for further in ({"openai_organization": "org-1"}, {"openai_organization": None}):
            chat = open_chat_model(read_settings(**given, **further))
            assert chat is not None
            monkeypatch.setenv("OPENAI_ORG_ID", "org-of-the-environment")
            monkeypatch.setenv("OPENAI_PROJECT_ID", "project-of-the-environment")
            chat.complete("rules", "Where?", max_tokens=10)
    assert [headers.get("openai-organization") for headers in served.headers] == ["org-1", None]
    assert not any("openai-project" in headers for headers in served.headers)


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
