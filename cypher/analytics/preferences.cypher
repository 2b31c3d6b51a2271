// What speakers like, dislike or take up and give up, in the order of time.
//
// $memory   STRING        name of the memory
// $speaker  STRING = ''   this speaker alone; '' everybody
// $limit    INTEGER = 20  rows at most, the latest
//
// -> said_at       ZONED DATETIME  when it was said, or null
// -> speaker       STRING          who said it
// -> preference    STRING          clues of kind preference; without one the utterance, its first 200 characters
// -> source        STRING          clue, or words: English words of liking in the utterance
// -> session_id    STRING          the session
// -> utterance_id  STRING          the utterance

CYPHER 25
MATCH (utterance:Utterance {memory: $memory})
WHERE utterance.ordinal >= 0 AND ($speaker = '' OR toLower(utterance.speaker) = toLower($speaker))
OPTIONAL MATCH (utterance)-[:BELONGS]->(clue:Clue {memory: $memory, kind: 'preference'})
WITH utterance, clue
ORDER BY clue.text
WITH utterance, collect(clue.text) AS found
WITH utterance, found,
  utterance.text =~ "(?is).*\\bi(['’]d| would| really| just| always| don['’]t| do not| can['’]t)?"
    + "( even| ever| rather)? (love|like|prefer|enjoy|hate|dislike|adore|stand|favou?r|gave up|give up"
    + "|fancy|drink|eat|vote for)\\b.*" AS says
WHERE size(found) > 0 OR says
ORDER BY utterance.instant DESC, utterance.uid
LIMIT $limit
RETURN
  utterance.said_at AS said_at, utterance.speaker AS speaker,
  CASE WHEN size(found) > 0
    THEN reduce(text = found[0], one IN found[1..] | text + '; ' + one) ELSE left(utterance.text, 200)
  END AS preference,
  CASE WHEN size(found) > 0 THEN 'clue' ELSE 'words' END AS source,
  utterance.session_id AS session_id, utterance.utterance_id AS utterance_id
ORDER BY utterance.instant, utterance.uid
