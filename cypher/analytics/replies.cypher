// Who replies to whom.
//
// $memory  STRING        name of the memory
// $limit   INTEGER = 20  rows at most
//
// -> speaker   STRING   who spoke
// -> follower  STRING   who spoke next in the session
// -> times     INTEGER  how often
// -> share     FLOAT    of all that followed the one, 0..1
// -> nearness  FLOAT    mean cosine of the two utterances, -1..1; null without vectors

CYPHER 25
MATCH (one:Utterance {memory: $memory})-[next:NEXT]->(other:Utterance {memory: $memory})
WHERE one.ordinal >= 0
WITH one.speaker_key AS key, other.speaker_key AS other_key, min(one.speaker) AS speaker,
  min(other.speaker) AS follower, count(next) AS times, avg(next.cosine) AS nearness
WITH key, sum(times) AS total, collect({
  key: other_key, speaker: speaker, follower: follower, times: times, nearness: nearness
}) AS pairs
UNWIND pairs AS pair
RETURN
  pair.speaker AS speaker, pair.follower AS follower, pair.times AS times, toFloat(pair.times) / total AS share,
  pair.nearness AS nearness
ORDER BY times DESC, key, pair.key
LIMIT $limit
