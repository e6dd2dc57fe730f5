"""Optimizers and schedulers: values over many steps, states, protocol, state dicts, hooks, errors' words."""
