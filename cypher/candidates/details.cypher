// What ranking needs to know of the candidates.
//
// $memory    STRING         the memory searched; no other is read
// $ordinals  LIST<INTEGER>  the candidates
// $vector    VECTOR         the question's vector, or null
//
// -> ordinal          INTEGER         the utterance's ordinal
// -> uid              STRING          the utterance
// -> utterance_id     STRING          the caller's id
// -> session_id       STRING          its session
// -> position         INTEGER         its place in the session, from 1
// -> speaker          STRING          who said it
// -> text             STRING          verbatim
// -> said_at          ZONED DATETIME  when it was said, or null
// -> instant          INTEGER         the same in seconds since 1970; the smallest integer when undated
// -> means            LIST<LIST<INTEGER>>  intervals it talks about, [start, end) in seconds since 1970
// -> cosine           FLOAT           of its vector, or of its nearest piece, and the question's, -1..1; null without a vector
// -> before_ordinal   INTEGER         ordinal of the utterance before it, or null
// -> before_cosine    FLOAT           cosine of that one and the question, -1..1, or null
// -> before_link      FLOAT           cosine of the two utterances, -1..1, or null
// -> before_asks      BOOLEAN         whether that one holds a question mark

CYPHER 25
UNWIND $ordinals AS wanted
MATCH (utterance:Utterance {memory: $memory, ordinal: wanted})
OPTIONAL MATCH (before:Utterance {memory: $memory})-[next:NEXT]->(utterance)
CALL (utterance) {
  OPTIONAL MATCH (piece:Piece {memory: $memory})-[:PIECE_OF]->(utterance)
  RETURN max(2 * vector.similarity.cosine(piece.embedding, $vector) - 1) AS piece_cosine
}
RETURN
  utterance.ordinal AS ordinal, utterance.uid AS uid, utterance.utterance_id AS utterance_id,
  utterance.session_id AS session_id, utterance.position AS position, utterance.speaker AS speaker,
  utterance.text AS text, utterance.said_at AS said_at, utterance.instant AS instant,
  [i IN range(0, size(coalesce(utterance.means_from, [])) - 1) |
    [utterance.means_from[i].epochSeconds, utterance.means_to[i].epochSeconds]] AS means,
  coalesce(piece_cosine, 2 * vector.similarity.cosine(utterance.embedding, $vector) - 1) AS cosine,
  before.ordinal AS before_ordinal,
  2 * vector.similarity.cosine(before.embedding, $vector) - 1 AS before_cosine,
  next.cosine AS before_link, coalesce(before.asks, false) AS before_asks
ORDER BY ordinal
