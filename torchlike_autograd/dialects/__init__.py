"""The same mechanism under the names and rules of its relatives (layer 9): `oneflow` and `libtorch`."""
