// What ranking needs to know of the candidates, in one row: rows cost more to carry than what is in them.
//
// $memory    STRING         the memory searched; no other is read
// $ordinals  LIST<INTEGER>  the candidates
// $vector    VECTOR         the question's vector, or null
//
// -> candidates  LIST<LIST<ANY>>  one for each, by ordinal, with these fields:
//
// 0 ordinal; 1 utterance_id; 2 session_id; 3 position in the session, from 1; 4 speaker; 5 text, verbatim;
// 6 instant in seconds since 1970, null when undated; 7 starts and 8 ends of the intervals it talks about;
// 9 cosine of its vector, or of its nearest piece, and the question's, -1..1, null without a vector;
// and of the utterance before it in the session: 10 ordinal, 11 cosine with the question, 12 cosine of the two,
// each null without one, 13 whether it holds a question mark

CYPHER 25
UNWIND $ordinals AS wanted
MATCH (utterance:Utterance {memory: $memory, ordinal: wanted})
OPTIONAL MATCH (before:Utterance {memory: $memory})-[next:NEXT]->(utterance)
CALL (utterance) {
  OPTIONAL MATCH (piece:Piece {memory: $memory})-[:PIECE_OF]->(utterance)
  RETURN max(2 * vector.similarity.cosine(piece.embedding, $vector) - 1) AS piece_cosine
}
WITH utterance, before, next, piece_cosine
ORDER BY utterance.ordinal
RETURN collect([
  utterance.ordinal, utterance.utterance_id, utterance.session_id, utterance.position, utterance.speaker,
  utterance.text, CASE WHEN utterance.said_at IS NOT NULL THEN utterance.instant END,
  [start IN utterance.means_from | start.epochSeconds], [end IN utterance.means_to | end.epochSeconds],
  coalesce(piece_cosine, 2 * vector.similarity.cosine(utterance.embedding, $vector) - 1),
  before.ordinal, 2 * vector.similarity.cosine(before.embedding, $vector) - 1, next.cosine,
  coalesce(before.asks, false)
]) AS candidates
