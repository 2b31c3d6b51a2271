// The layout of a memory: where each of its utterances stands.
//
// $memory  STRING   name of the memory
// $from    INTEGER  first chunk, from 0
//
// -> chunk   INTEGER  chunk of ordinals, from 0
// -> places  BYTES    places of its ordinals

CYPHER 25
MATCH (layout:Layout {memory: $memory})
WHERE layout.chunk >= $from
RETURN layout.chunk AS chunk, layout.places AS places
ORDER BY chunk
