"""The server behind ``lnnkit lsp``: the Language Server Protocol, answered by the functions of `lnnkit.editor`."""
