"""What programs rely on under torch.autograd, subject by subject; `compat_matrix/rows.toml` says which rows of which list a case proves."""
