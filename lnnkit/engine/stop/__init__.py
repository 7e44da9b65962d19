"""Termination: slow convergence, drifting numbers, interruption by a watch."""
