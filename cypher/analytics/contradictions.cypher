// Candidates for contradictions: a speaker says of a rare clue, in a later session, that something changed.
//
// $memory  STRING        name of the memory
// $widest  INTEGER = 12  utterances of the clue at most: what everybody mentions tells nothing
// $limit   INTEGER = 20  rows at most
//
// -> speaker     STRING          who said both
// -> clue        STRING          what both are about
// -> earlier_at  ZONED DATETIME  when the earlier one was said, or null
// -> earlier     STRING          its first 200 characters
// -> later_at    ZONED DATETIME  when the later one was said, or null
// -> later       STRING          its first 200 characters; holds English words of change
// -> earlier_id  STRING          the earlier utterance
// -> later_id    STRING          the later utterance

CYPHER 25
MATCH (node:Clue {memory: $memory})
WHERE node.kind IS NOT NULL AND node.kind <> 'topic' AND 2 <= node.support <= $widest
MATCH (node)<-[:BELONGS]-(after:Utterance {memory: $memory})
WHERE after.text =~ "(?is).*\\b(not any ?more|any ?more|no longer|instead|changed|moved|used to|stopped|dropped|gave up"
  + "|given up|giving up|cancel+ed|is off|swapped|not .{1,40} but)\\b.*"
MATCH (node)<-[:BELONGS]-(before:Utterance {memory: $memory, speaker_key: after.speaker_key})
WHERE before.session_id <> after.session_id AND before.instant < after.instant
WITH before, after, node
ORDER BY node.support, node.uid
WITH before, after, collect(node.text) AS clues, min(node.support) AS support
ORDER BY size(clues) DESC, support, after.instant DESC, after.uid, before.uid
LIMIT $limit
RETURN
  after.speaker AS speaker, clues[0] AS clue,
  before.said_at AS earlier_at, left(before.text, 200) AS earlier,
  after.said_at AS later_at, left(after.text, 200) AS later,
  before.utterance_id AS earlier_id, after.utterance_id AS later_id
ORDER BY size(clues) DESC, support, after.instant DESC, after.uid, before.uid
