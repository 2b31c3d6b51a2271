// Deletes aliases.
//
// $memory  STRING        name of the memory
// $uids    LIST<STRING>  their uids

CYPHER 25
UNWIND $uids AS uid
MATCH (alias:Alias {memory: $memory, uid: uid})
DELETE alias
