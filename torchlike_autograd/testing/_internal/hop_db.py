"""torch.testing._internal.hop_db (layer 8): descriptions of operators on functions (cond, scan, ...); none are described here."""

hop_db: list = []
