"""torch.distributed.elastic.multiprocessing (layer 8)."""
