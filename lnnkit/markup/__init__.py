"""Values -> markup for people, as pages, pictures and texts share it: templates, colours, tables, trees."""
