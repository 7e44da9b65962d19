"""What pages, pictures and texts for people share: templates, colours, tables, trees."""
