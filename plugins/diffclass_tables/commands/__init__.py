"""Commands on tables; the first file that is named decides between them and those on scenes."""
