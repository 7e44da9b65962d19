"""What instances of one rule propose: evaluated, looked up or swept."""
