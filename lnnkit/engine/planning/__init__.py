"""Plans: programs compiled for their questions and for what facts may bound."""
