"""The server behind ``lnnkit lsp``: speaks the Language Server Protocol, and answers by the functions of `lnnkit.editor`."""
