"""Labels -> parameters and rules. Start at `learner`: what `fit` does; `fitting` descends, `replay` gives gradients."""
