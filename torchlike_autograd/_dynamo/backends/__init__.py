"""torch._dynamo.backends (layer 8)."""
