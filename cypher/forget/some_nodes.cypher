// Deletes some of a memory's nodes; repeated until nothing is left.
//
// $memory  STRING   name of the memory
// $limit   INTEGER  at most this many, 1 or more
//
// -> deleted  INTEGER  nodes deleted

CYPHER 25
CALL () {
  MATCH (node:Utterance {memory: $memory}) WHERE node.ordinal >= 0 RETURN node
  UNION ALL
  MATCH (node:Piece {memory: $memory}) WHERE node.uid IS NOT NULL RETURN node
  UNION ALL
  MATCH (node:Clue {memory: $memory}) WHERE node.kind IS NOT NULL RETURN node
  UNION ALL
  MATCH (node:Session {memory: $memory}) WHERE node.session_id IS NOT NULL RETURN node
  UNION ALL
  MATCH (node:Posting {memory: $memory}) WHERE node.term IS NOT NULL AND node.chunk >= 0 RETURN node
  UNION ALL
  MATCH (node:Layout {memory: $memory}) WHERE node.chunk >= 0 RETURN node
  UNION ALL
  MATCH (node:Unfinished {memory: $memory}) WHERE node.token IS NOT NULL RETURN node
  UNION ALL
  MATCH (node:Alias {memory: $memory}) WHERE node.uid IS NOT NULL RETURN node
}
WITH DISTINCT node
LIMIT $limit
WITH collect(node) AS nodes
FOREACH (node IN nodes | DETACH DELETE node)
RETURN size(nodes) AS deleted
