"""Decides questions with a solver; finds a core for the verdict, or worlds as counterexamples."""
