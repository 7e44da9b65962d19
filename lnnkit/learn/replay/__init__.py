"""Derivations evaluated again, with gradients: `recorded_inference` keeps a history and builds its `replay`."""
