"""Proofs of atoms and queries: as values, as text, as pages. Start with `proof`, then `prover`."""
