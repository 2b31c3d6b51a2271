// Utterances of one memory whose vector is nearest to the question's, nearest first.
//
// $memory        STRING   the memory searched; no other is read
// $vector        VECTOR   the question's vector
// $from          INTEGER  said at this instant or later, seconds since 1970; the smallest integer lets undated ones in
// $until         INTEGER  said before this instant
// $speaker_from  STRING   speaker's key from here ...
// $speaker_to    STRING   ... to here, both included
// $session_from  STRING   session id from here ...
// $session_to    STRING   ... to here, both included
// $limit         INTEGER  at most this many utterances, 1 or more
//
// -> ordinal  INTEGER  the utterance's ordinal
// -> cosine   FLOAT    -1..1 (Neo4j's own scale is (1 + cosine) / 2)

CYPHER 25
MATCH (utterance:Utterance)
SEARCH utterance IN (
  VECTOR INDEX utterance_embedding FOR $vector
  WHERE utterance.memory = $memory
    AND utterance.instant >= $from AND utterance.instant < $until
    AND utterance.speaker_key >= $speaker_from AND utterance.speaker_key <= $speaker_to
    AND utterance.session_id >= $session_from AND utterance.session_id <= $session_to
  LIMIT $limit
) SCORE AS score
RETURN utterance.ordinal AS ordinal, 2 * score - 1 AS cosine
ORDER BY cosine DESC, ordinal
