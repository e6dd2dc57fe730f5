"""Reading and writing by index, and what flows back."""
