"""What nodes keep: attributes, hooks, mutation, anomaly mode."""
