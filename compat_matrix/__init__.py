"""The compatibility matrix: one body, two modules.

`cases/` holds generator functions that take the torch module and yield what they see;
`record` runs them under PyTorch and keeps the answers in `oracle/`; `run` runs the same
bodies under `torchlike_autograd` and compares.  `gaps.toml` lists what is known to differ.
"""
