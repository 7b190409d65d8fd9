"""Reading and writing: tables, data frames, files."""
