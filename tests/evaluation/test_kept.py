"""What evaluation keeps on disk: embeddings, outcomes, features."""

from pathlib import Path

import numpy as np
import pytest

from assomem.evaluation.datasets import LabelledMemory, read_sets
from assomem.evaluation.embeddings import KeptEmbedder
from assomem.evaluation.features import QuestionFeatures, load_all, save
from assomem.evaluation.results import Outcome, Outcomes
from assomem.models.doubles import HashingEmbedder
from assomem.models.embedder import UtteranceEmbedding


@pytest.fixture
def garden(talks: Path) -> LabelledMemory:
    return read_sets([talks])[0].memories[1]


class Refusing(HashingEmbedder):
    """Embeds no utterance: all of them must come from disk."""

    def embed_utterances(self, texts: object) -> list[UtteranceEmbedding]:
        raise AssertionError(f"{texts} were embedded again")


@pytest.mark.parametrize("tokens", [True, False])
def test_embeddings_come_back_from_disk_as_they_were(garden: LabelledMemory, tmp_path: Path, tokens: bool) -> None:
    done: list[int] = []
    first = KeptEmbedder(HashingEmbedder(tokens=tokens, piece_words=5), tmp_path)
    first.prepare(garden.sessions, done.append)
    second = KeptEmbedder(Refusing(tokens=tokens, piece_words=5), tmp_path)
    second.prepare(garden.sessions, done.append)
    assert sum(done) == 24
    texts = [f"{one.speaker}: {one.text}" for session in garden.sessions for one in session.utterances]
    fresh = HashingEmbedder(tokens=tokens, piece_words=5).embed_utterances(texts)
    for kept, new in zip(second.embed_utterances(texts), fresh, strict=True):
        assert np.array_equal(kept.vector, new.vector)
        assert np.array_equal(kept.pieces, new.pieces)
        assert kept.piece_tokens == new.piece_tokens
        assert (kept.token_vectors is None) == (new.token_vectors is None)
        if kept.token_vectors is not None and new.token_vectors is not None:
            assert np.array_equal(kept.token_vectors, new.token_vectors)


def test_another_embedder_has_files_of_its_own(garden: LabelledMemory, tmp_path: Path) -> None:
    KeptEmbedder(HashingEmbedder(), tmp_path).prepare(garden.sessions, lambda _: None)
    with pytest.raises(AssertionError, match="embedded again"):
        KeptEmbedder(Refusing(32), tmp_path).prepare(garden.sessions, lambda _: None)


def test_a_question_asked_again_takes_the_time_it_took_first(tmp_path: Path) -> None:
    kept = KeptEmbedder(HashingEmbedder(), tmp_path)
    first = kept.embed_question("Where are the bulbs?")
    assert kept.saved_milliseconds == 0
    assert kept.embed_question("Where are the bulbs?") is first
    assert kept.saved_milliseconds > 0


def test_outcomes_survive_a_line_that_was_cut(tmp_path: Path) -> None:
    file = tmp_path / "outcomes.jsonl"
    kept = Outcomes(file)
    for number in range(3):
        kept.add(Outcome(f"q{number}", ("a", "b"), 1.5, ("no plugin",)))
    kept.add(Outcome("q3", (), 1.0, failed="ModelError: it failed"))
    assert list(kept.found) == ["q0", "q1", "q2", "q3"]
    file.write_bytes(file.read_bytes()[:-10])
    again = Outcomes(file)
    assert again.found == {"q0": kept.found["q0"], "q1": kept.found["q1"]}
    again.add(Outcome("q2", ("c",), 2.0))
    assert Outcomes(file).found["q2"].ranking == ("c",)


def features(query_id: str, names: tuple[str, ...] = ("words", "clue walk", "said")) -> QuestionFeatures:
    values = np.array([[1.0, 0.0, 0.2], [0.5, 1.0, 0.9], [0.4, 0.0, 1.0]], np.float32)[:, : len(names)]
    return QuestionFeatures(
        query_id=query_id,
        query_type="number",
        types={"number": 0.75, "place": 0.25},
        kinds={"people, dated": 1.0},
        group="garden",
        utterance_ids=("a", "b", "ü"),
        found_by=("text", "clue", "text,time"),
        reading_names=names,
        readings=values,
        relevant=np.array([True, False, False]),
        evidence_count=2,
    )


def test_features_come_back_as_they_were_each_question_once(tmp_path: Path) -> None:
    save(tmp_path, [features("q2"), features("q1", ("words",))])
    save(tmp_path, [features("q2")])
    save(tmp_path, [])
    found = load_all(tmp_path)
    assert [one.query_id for one in found] == ["q1", "q2"]
    assert found[0].reading_names == ("words",)
    wanted = features("q2")
    arrays = {"readings", "relevant"}
    plain = {name: value for name, value in vars(wanted).items() if name not in arrays}
    assert {name: vars(found[1])[name] for name in plain} == plain
    assert np.array_equal(found[1].readings, wanted.readings)
    assert np.array_equal(found[1].relevant, wanted.relevant)
    assert load_all(tmp_path / "nowhere") == []


def test_features_are_ranked_under_any_weights_and_without_parts() -> None:
    question = features("q")
    words = {"relevance": {"words": 1.0}, "importance": {}, "temporal": {}}
    walk = {"relevance": {"words": 0.5}, "importance": {"clue walk": 0.5}, "temporal": {}}
    assert question.ranked(words, 10) == ("a", "b", "ü")
    assert question.ranked(walk, 2) == ("b", "a")
    without = question.without(["clue walk"], ["clue"])
    assert without.utterance_ids == ("a", "ü")
    assert without.reading_names == ("words", "said")
    assert without.relevant.tolist() == [True, False]
    assert without.ranked(walk, 10) == ("a", "ü")
    assert question.without([], ["text", "time", "clue"]).ranked(words, 10) == ()
