// Marks that sessions are being stored, so that an import cut short can be told.
//
// $memory       STRING        name of the memory
// $token        STRING        token of this import
// $session_ids  LIST<STRING>  sessions it will store

CYPHER 25
MERGE (unfinished:Unfinished {memory: $memory, token: $token})
ON CREATE SET unfinished.session_ids = $session_ids, unfinished.started_at = datetime()
