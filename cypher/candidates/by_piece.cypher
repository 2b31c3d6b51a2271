// Long utterances of one memory with a piece whose vector is near to the question's, nearest first.
//
// $memory        STRING   the memory searched; no other is read
// $vector        VECTOR   the question's vector
// $from          INTEGER  said at this instant or later, seconds since 1970; the smallest integer lets undated ones in
// $until         INTEGER  said before this instant
// $speaker_from  STRING   speaker's key from here ...
// $speaker_to    STRING   ... to here, both included
// $session_from  STRING   session id from here ...
// $session_to    STRING   ... to here, both included
// $limit         INTEGER  at most this many pieces, 1 or more
//
// -> ordinal  INTEGER  the utterance's ordinal
// -> cosine   FLOAT    of its nearest piece, -1..1

CYPHER 25
MATCH (piece:Piece)
SEARCH piece IN (
  VECTOR INDEX piece_embedding FOR $vector
  WHERE piece.memory = $memory
    AND piece.instant >= $from AND piece.instant < $until
    AND piece.speaker_key >= $speaker_from AND piece.speaker_key <= $speaker_to
    AND piece.session_id >= $session_from AND piece.session_id <= $session_to
  LIMIT $limit
) SCORE AS score
MATCH (piece)-[:PIECE_OF]->(utterance:Utterance {memory: $memory})
RETURN utterance.ordinal AS ordinal, max(2 * score - 1) AS cosine
ORDER BY cosine DESC, ordinal
