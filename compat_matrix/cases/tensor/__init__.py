"""Making tensors, looking at them, converting, copying and printing them."""
