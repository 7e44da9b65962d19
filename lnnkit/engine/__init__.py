"""The semi-naive fixpoint loop: rules that are due respond (up, meet, down), and their proposals are merged, until
nothing moves."""
