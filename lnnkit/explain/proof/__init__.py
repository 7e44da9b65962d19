"""An atom or query -> its proof, as a value, as text, as a page. Start with `proof`, then `prover`."""
