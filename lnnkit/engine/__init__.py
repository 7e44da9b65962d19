"""The loop: what is due responds (up, meet, down), proposals are merged, until nothing moves."""
