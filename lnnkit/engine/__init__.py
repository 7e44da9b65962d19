"""A plan and facts -> a fixpoint and its trail. The semi-naive loop: rules that are due respond (up, meet, down), and
their proposals are merged, until nothing moves."""
