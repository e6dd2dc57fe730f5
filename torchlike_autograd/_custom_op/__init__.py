"""torch._custom_op (layer 8): the first form of operators of a program's own."""
