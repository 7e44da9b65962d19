"""What instances of one rule propose: evaluated, looked up, or worked out by a clause."""
