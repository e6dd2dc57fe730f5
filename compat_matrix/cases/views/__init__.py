"""Views: what shares memory, how writes travel, what happens to history."""
