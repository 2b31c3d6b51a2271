// Utterances of one memory nearest to the question, whole ones and pieces of long ones, in one row.
//
// $memory        STRING   the memory searched; no other is read
// $vector        VECTOR   the question's vector
// $from          INTEGER  said at this instant or later, seconds since 1970; the smallest integer lets undated ones in
// $until         INTEGER  said before this instant
// $speaker_from  STRING   speaker's key from here ...
// $speaker_to    STRING   ... to here, both included
// $session_from  STRING   session id from here ...
// $session_to    STRING   ... to here, both included
// $limit         INTEGER  at most this many of either, 1 or more
//
// -> utterances       LIST<INTEGER>  ordinals of whole utterances, nearest first
// -> cosines          LIST<FLOAT>    cosine of each, -1..1 (Neo4j's own scale is (1 + cosine) / 2)
// -> piece_ordinals   LIST<INTEGER>  ordinals of the utterances of the nearest pieces, nearest first; one may repeat
// -> piece_cosines    LIST<FLOAT>    cosine of each piece

CYPHER 25
CALL () {
  MATCH (utterance:Utterance)
  SEARCH utterance IN (
    VECTOR INDEX utterance_embedding FOR $vector
    WHERE utterance.memory = $memory
      AND utterance.instant >= $from AND utterance.instant < $until
      AND utterance.speaker_key >= $speaker_from AND utterance.speaker_key <= $speaker_to
      AND utterance.session_id >= $session_from AND utterance.session_id <= $session_to
    LIMIT $limit
  ) SCORE AS score
  WITH utterance.ordinal AS ordinal, 2 * score - 1 AS cosine
  ORDER BY cosine DESC, ordinal
  RETURN collect(ordinal) AS utterances, collect(cosine) AS cosines
}
CALL () {
  MATCH (piece:Piece)
  SEARCH piece IN (
    VECTOR INDEX piece_embedding FOR $vector
    WHERE piece.memory = $memory
      AND piece.instant >= $from AND piece.instant < $until
      AND piece.speaker_key >= $speaker_from AND piece.speaker_key <= $speaker_to
      AND piece.session_id >= $session_from AND piece.session_id <= $session_to
    LIMIT $limit
  ) SCORE AS piece_score
  MATCH (piece)-[:PIECE_OF]->(whole:Utterance {memory: $memory})
  WITH whole.ordinal AS piece_ordinal, 2 * piece_score - 1 AS piece_cosine
  ORDER BY piece_cosine DESC, piece_ordinal
  RETURN collect(piece_ordinal) AS piece_ordinals, collect(piece_cosine) AS piece_cosines
}
RETURN utterances, cosines, piece_ordinals, piece_cosines
