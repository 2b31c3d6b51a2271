// One chunk of a memory's layout.
//
// $memory  STRING   name of the memory
// $chunk   INTEGER  chunk of ordinals, from 0
//
// -> places  BYTES  places of its ordinals

CYPHER 25
MATCH (layout:Layout {memory: $memory, chunk: $chunk})
RETURN layout.places AS places
