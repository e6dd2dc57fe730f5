"""Training steps timed against PyTorch eager and hand-written ``jax.jit``, in one run.

``python -m benchmarks [--torch-python PATH] [--only STEP] [--quick] [--json FILE]`` starts one
process per contestant and step, lets them take turns round by round, and prints medians and
the ratios within the run, which hold on a busy machine where bare times do not.

- `steps/`: the training steps, one module each, written once for ours and PyTorch.
- `worker`: one contestant's process; `process`: the parent's end of it.
- `contest`: the turns of one step; `report`: the table, and what of the goals was missed.
- `record_cost`: what recording one small operation costs.
- `memory`: whether a long training loop holds its memory flat.
"""
