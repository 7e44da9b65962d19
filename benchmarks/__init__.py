"""Side by side with published results; never part of the package."""
