"""A lifted graph and queries -> a plan: formulas compiled for what is asked and for what facts may bound."""
