// The whole graph of a memory as lists, with the similarity of each utterance to the question, for the paper's walk.
//
// $memory  STRING  the memory read; no other is
// $vector  VECTOR  the question's vector
// $until   INTEGER only utterances said before this instant, seconds since 1970
//
// -> node      STRING         uid of an utterance or clue
// -> ordinal   INTEGER        the utterance's ordinal; null for a clue
// -> cosine    FLOAT          similarity to the question, -1..1; null for a clue or without a vector
// -> others    LIST<STRING>   uids of the nodes it is linked to by BELONGS or SIMILAR, each link once
// -> weights   LIST<FLOAT>    weight of each link

CYPHER 25
CALL () {
  MATCH (node:Utterance {memory: $memory})
  WHERE node.ordinal >= 0 AND node.instant < $until
  RETURN node, node.ordinal AS ordinal, 2 * vector.similarity.cosine(node.embedding, $vector) - 1 AS cosine
  UNION ALL
  MATCH (node:Clue {memory: $memory})
  WHERE node.kind IS NOT NULL
  RETURN node, null AS ordinal, null AS cosine
}
OPTIONAL MATCH (node)-[link:BELONGS|SIMILAR]->(other:Utterance|Clue {memory: $memory})
WHERE NOT other:Utterance OR other.instant < $until
WITH node, ordinal, cosine, other, link
ORDER BY other.uid
RETURN
  node.uid AS node, ordinal, cosine,
  collect(other.uid) AS others, collect(coalesce(link.score, link.weight)) AS weights
ORDER BY node
