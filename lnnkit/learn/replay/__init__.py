"""Derivations evaluated again, with gradients: `recorded_inference` keeps a history, `replayer` builds its `replay`."""
