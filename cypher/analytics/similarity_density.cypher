// How densely utterances and clues are linked by SIMILAR, and how strongly.
//
// $memory  STRING  name of the memory
//
// -> nodes       STRING   utterances or clues
// -> count       INTEGER  how many there are
// -> links       INTEGER  SIMILAR links between them
// -> links_each  FLOAT    links that a node has on average; null where there is none
// -> linked      FLOAT    share of them with a link, 0..1; null where there is none
// -> lowest      FLOAT    lowest score, null without links
// -> mean        FLOAT    mean score, null without links
// -> highest     FLOAT    highest score, null without links

CYPHER 25
CALL () {
  MATCH (one:Utterance {memory: $memory})
  WHERE one.ordinal >= 0
  OPTIONAL MATCH (one)-[link:SIMILAR]-(:Utterance {memory: $memory})
  RETURN
    'utterances' AS nodes, count(DISTINCT one) AS count, count(link) AS ends,
    count(DISTINCT CASE WHEN link IS NOT NULL THEN one END) AS linked,
    min(link.score) AS lowest, avg(link.score) AS mean, max(link.score) AS highest
  UNION ALL
  MATCH (one:Clue {memory: $memory})
  WHERE one.kind IS NOT NULL
  OPTIONAL MATCH (one)-[link:SIMILAR]-(:Clue {memory: $memory})
  RETURN
    'clues' AS nodes, count(DISTINCT one) AS count, count(link) AS ends,
    count(DISTINCT CASE WHEN link IS NOT NULL THEN one END) AS linked,
    min(link.score) AS lowest, avg(link.score) AS mean, max(link.score) AS highest
}
RETURN
  nodes, count, ends / 2 AS links, CASE WHEN count > 0 THEN toFloat(ends) / count END AS links_each,
  CASE WHEN count > 0 THEN toFloat(linked) / count END AS linked, lowest, mean, highest
ORDER BY nodes DESC
