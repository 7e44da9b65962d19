"""How well the tests test: mutants of a package, and the tests that notice them."""
