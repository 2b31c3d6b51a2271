"""Terms: the words that questions and utterances have in common, in any script."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assomem.terms import STOP_WORDS, stem, terms


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Sarah's dog", ["sarah", "dog"]),
        ("Sarah’s dogs'", ["sarah", "dog"]),
        ("It's the dog that's barking", ["dog", "bark"]),
        ("I don't know, we'll see, they've gone", ["know", "see", "gone"]),
        ("running runs RUN", ["run", "run", "run"]),
        ("books about painting", ["book", "paint"]),
        ("Where did we meet last week?", ["meet", "last", "week"]),
        ("snake_case and a-b/c", ["snake", "case", "b", "c"]),
        ("Room 42 on 2024-05-01", ["room", "42", "2024", "05", "01"]),
        ("ＦＵＬＬ ｗｉｄｔｈ", ["full", "width"]),
        ("cafe\u0301 café", ["café", "café"]),
        ("who is it?", []),
        ("", []),
        ("?!.,;:()[]{}\"'", []),
        ("_ __", []),
    ],
)
def test_content_words_are_lower_case_and_stemmed(text: str, found: list[str]) -> None:
    assert terms(text) == found


def test_no_stop_word_is_a_term() -> None:
    assert terms(" ".join(sorted(STOP_WORDS))) == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("東京タワー", ["東京", "京タ", "タワ", "ワー"]),
        ("我喜欢北京", ["我喜", "喜欢", "欢北", "北京"]),
        ("猫", ["猫"]),
        ("猫と犬 cats", ["猫と", "と犬", "cat"]),
        ("서울 타워", ["서울", "타워"]),
        ("3月に", ["3", "月に"]),
        ("ﾀﾜｰ", ["タワ", "ワー"]),
    ],
)
def test_east_asian_runs_become_overlapping_pairs(text: str, found: list[str]) -> None:
    assert terms(text) == found


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("昨天我们去了上海博物馆看展览", "博物馆"),
        ("きのうは友達と水族館に行きました", "水族館"),
        ("어제 친구와 박물관에 갔어요", "박물관"),
        ("ذهبنا إلى المتحف أمس", "المتحف"),
        ("Вчера мы ходили в музей", "музей"),
        ("🎸🎉", "🎉"),
        ("👩‍🚀🇫🇷", "🇫🇷"),
    ],
)
def test_a_word_from_the_middle_of_a_text_is_found_in_any_script(text: str, word: str) -> None:
    wanted = terms(word)
    assert wanted
    assert set(wanted) <= set(terms(text))


def test_arabic_words_are_kept_whole() -> None:
    assert terms("ذهبنا إلى المتحف أمس") == ["ذهبنا", "إلى", "المتحف", "أمس"]


@pytest.mark.parametrize("emoji", ["🙂", "🎉", "❤", "⭐", "⏰", "☀", "✈", "🫶", "⌚"])
def test_an_utterance_of_emoji_alone_has_terms(emoji: str) -> None:
    assert terms(emoji) == [emoji]
    assert terms(f"nice {emoji}{emoji}") == ["nice", emoji, emoji]


def test_only_the_beginning_of_a_huge_word_counts() -> None:
    huge = "a" * 200_000
    assert terms(huge) == ["a" * 64]
    assert terms(huge + "b") == terms(huge)
    assert stem(huge) == "a" * 64


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    "text", ["word " * 40_000, "東" * 200_000, "x" * 200_000, "🙂" * 200_000, "'s " * 66_000, "\ud83d" * 200_000]
)
def test_two_hundred_thousand_characters_do_not_hang(text: str) -> None:
    assert terms(text) == terms(text)


@given(st.text(st.characters(exclude_categories=()), max_size=200))
def test_any_text_has_terms_that_are_short_valid_and_the_same_each_time(text: str) -> None:
    found = terms(text)
    assert found == terms(text)
    for term in found:
        assert 0 < len(term) <= 64
        assert not any(character.isspace() for character in term)
        term.encode("utf-8")


@given(st.text(st.characters(max_codepoint=0x7F), max_size=80))
def test_case_does_not_count(text: str) -> None:
    assert terms(text.upper()) == terms(text.lower()) == terms(text)


@given(st.lists(st.sampled_from(["dog", "running", "東京", "🙂", "the", "Sarah's"]), max_size=8))
def test_the_terms_of_a_text_are_those_of_its_words_in_order(words: list[str]) -> None:
    assert terms(" ".join(words)) == [term for word in words for term in terms(word)]
