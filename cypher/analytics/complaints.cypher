// Recurring complaints: clues of which somebody complains in several sessions.
//
// $memory    STRING        name of the memory
// $at_least  INTEGER = 2   sessions with such an utterance, or more
// $limit     INTEGER = 20  rows at most
//
// -> kind        STRING          phrase, person, place, ...
// -> clue        STRING          the clue
// -> complaints  INTEGER         utterances about it that hold English words of complaint
// -> sessions    INTEGER         sessions they are in
// -> speakers    LIST<STRING>    up to 8 who complain
// -> last_at     ZONED DATETIME  the last of them, or null
// -> last_words  STRING          its first 200 characters

CYPHER 25
MATCH (node:Clue {memory: $memory})
WHERE node.kind IS NOT NULL AND node.kind <> 'topic' AND node.support >= $at_least
MATCH (node)<-[:BELONGS]-(utterance:Utterance {memory: $memory})
WHERE utterance.text =~ "(?is).*\\b(broken?|breaks?|leak(s|ed|ing|y)?|late|annoy\\w*|bitter"
  + "|hates?d?|complain\\w*|lost|gone|missed"
  + "|flood\\w*|tired|tiring|ill|hurts?|burst|wors[et]|bent|ruin\\w*|nois[ey]\\w*|expensive|punctures?|sulk\\w*|loose"
  + "|wobbl\\w*"
  + "|awful|terrible|horrible|disappoint\\w*|fed up|sick of|scream|too (much|many|long|slow|loud|cold|hot)"
  + "|(does|do|did|is|are|was|has)n['’]t (work|arrive|fit|help|start)\\w*"
  + "|under water|never works|not working|problems?)\\b.*"
WITH node, utterance
ORDER BY utterance.instant, utterance.uid
WITH node, collect(utterance) AS found, count(DISTINCT utterance.session_id) AS sessions,
  collect(DISTINCT utterance.speaker) AS speakers
WHERE sessions >= $at_least
RETURN
  node.kind AS kind, node.text AS clue, size(found) AS complaints, sessions, speakers[..8] AS speakers,
  found[-1].said_at AS last_at, left(found[-1].text, 200) AS last_words
ORDER BY sessions DESC, complaints DESC, node.support, node.uid
LIMIT $limit
