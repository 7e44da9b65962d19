"""The server behind ``lnnkit lsp``: it speaks the Language Server Protocol; what it says is from `lnnkit.editor`."""
