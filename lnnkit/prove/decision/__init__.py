"""Questions, decided in a solver; what suffices for the verdict, or worlds that show otherwise."""
