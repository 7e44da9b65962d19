"""A fixpoint and facts that changed -> the fixpoint of the facts as they are now, without an inference of all."""
