"""What editors ask about `.lnn` texts, as pure functions over texts and syntax trees. Offsets count code points."""
