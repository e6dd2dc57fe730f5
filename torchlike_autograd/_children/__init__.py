"""What Python processes that a program starts find first when they import torch (layer 10): `dropin.pass_on_to_children` puts this folder in PYTHONPATH.

`torch.py` and `functorch.py` give way to this package, where it can be imported; else to what else is there by their name.
"""
