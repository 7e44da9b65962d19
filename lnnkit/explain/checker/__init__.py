"""The checker of proofs: it knows the program, its facts and the kernels of the logics, and nothing of the engine.
Start with `proof_checker`."""
