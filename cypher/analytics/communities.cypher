// Communities of clues that are mentioned together (Leiden), each named by its strongest clues.
//
// $memory  STRING        name of the memory
// $limit   INTEGER = 20  rows at most
//
// -> name        STRING          its three clues with the most utterances
// -> clues       INTEGER         clues in it, 2 or more
// -> utterances  INTEGER         utterances that belong to them
// -> sessions    INTEGER         sessions they are in
// -> first_at    ZONED DATETIME  first mention, or null
// -> last_at     ZONED DATETIME  last mention, or null
// -> members     LIST<STRING>    up to 12 of its clues, those with the most utterances first

CYPHER 25
MATCH (memory:Memory {name: $memory})
WITH 'assomem_' + memory.key + '_analytics_' + randomUUID() AS graph
MATCH (clue:Clue {memory: $memory})
WHERE clue.kind IS NOT NULL AND clue.kind <> 'topic'
OPTIONAL MATCH (clue)<-[:BELONGS]-(utterance:Utterance {memory: $memory})-[:BELONGS]->(other:Clue {memory: $memory})
WHERE other.kind <> 'topic' AND clue.uid < other.uid
WITH graph, clue, other, count(utterance) AS together
WITH gds.graph.project(
  graph, clue, other,
  {relationshipProperties: {together: toFloat(together)}}, {undirectedRelationshipTypes: ['*'], readConcurrency: 1}
) AS projected
WITH projected
WHERE projected IS NOT NULL
CALL (projected) {
  CALL gds.leiden.stream(projected.graphName, {
    relationshipWeightProperty: 'together', randomSeed: 7, concurrency: 1, logProgress: false
  })
  YIELD nodeId, communityId
  RETURN collect({node: nodeId, community: communityId}) AS places
}
CALL gds.graph.drop(projected.graphName, false) YIELD graphName
UNWIND places AS place
WITH place.community AS community, gds.util.asNode(place.node) AS clue
ORDER BY clue.support DESC, clue.uid
WITH community, collect(clue) AS members
WHERE size(members) > 1
ORDER BY size(members) DESC, members[0].uid
LIMIT $limit
CALL (members) {
  UNWIND members AS clue
  MATCH (clue)<-[:BELONGS]-(utterance:Utterance {memory: $memory})
  RETURN
    count(DISTINCT utterance) AS utterances, count(DISTINCT utterance.session_id) AS sessions,
    min(utterance.said_at) AS first_at, max(utterance.said_at) AS last_at
}
WITH members, utterances, sessions, first_at, last_at
ORDER BY size(members) DESC, members[0].uid
RETURN
  reduce(name = members[0].text, clue IN members[1..3] | name + ', ' + clue.text) AS name,
  size(members) AS clues, utterances, sessions, first_at, last_at, [clue IN members[..12] | clue.text] AS members
