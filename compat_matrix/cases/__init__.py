"""The bodies, by area.  They take the torch module and yield (label, what they see)."""
