"""torch._higher_order_ops (layer 8): of its operators, the scan that libraries import."""
