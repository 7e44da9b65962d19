"""When inference ends: slow convergence, numbers that drift, whoever watches."""
