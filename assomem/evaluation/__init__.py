"""How well evidence is found: `assomem evaluate`; weights from labelled questions: `assomem fit`.

    datasets     labelled questions and their memories, from our own folders or LongMemEval's and LoCoMo's files
    run          START HERE: sets × methods → outcomes, kept and resumed; the JSON of the command
    methods      the methods by name
      own        AssoMem in a temporary memory of Neo4j, marked, deleted at the end
      baselines  flat, bm25, hybrid, session-utterance, topic-grouping, lst     knowledge_graph   cross_encoder
      indexed    a memory as the baselines see it      embeddings   the same vectors for all, kept on disk
    features     every reading of every candidate, for learning and ablating without ranking again
    weights      shipped, a file's, or learnt from other questions      ablations      fit
    metrics      recall, nDCG, MRR of one ranking      statistics   intervals and comparisons of means
    density      the same questions while the memory grows
    report       Markdown and a page of HTML

Nothing here is imported by the library, only by the command line.
"""
