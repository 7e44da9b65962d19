"""Values to start from: `candidates` for thresholds, relations and units; `candidate_search` for weights."""
