"""What old and plain programs lean on without thinking of it: Variable, attributes, printed signs, where a warning points."""
