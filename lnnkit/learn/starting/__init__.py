"""Values to start from, by examples: `threshold_starts` for thresholds, `initial_values` for all else."""
