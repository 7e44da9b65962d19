"""Labels -> values to start from, for learned comparisons: `candidates` offers them, `least_squares` fits weights."""
