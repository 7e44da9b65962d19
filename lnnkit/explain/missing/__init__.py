"""Why an atom is no truer: the instances that could change it, what they lack, and what inference says of that. Start
with `missing_premises`; `why_not` is the answer."""
