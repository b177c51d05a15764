"""Files: read, write, edit, delete, and what there is to know of them."""
