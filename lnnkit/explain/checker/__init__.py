"""The checker of proofs, which knows the program and the logics' kernels, and no engine. Start with `proof_checker`."""
