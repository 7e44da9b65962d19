"""A proof -> its faults. The checker knows the program and logics' kernels, no engine. Start with `proof_checker`."""
