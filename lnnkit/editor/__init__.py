"""What an editor asks of `.lnn` texts, as pure functions over texts and syntax trees; offsets are code points."""
