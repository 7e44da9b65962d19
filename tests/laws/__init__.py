"""Laws that any program must keep, by name, and programs of other suites. None of them knows the engine."""
