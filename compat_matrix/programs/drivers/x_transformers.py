"""Transformers with one setting after another, generation, and one over patches of images."""

import torch
from x_transformers import AutoregressiveWrapper, Decoder, Encoder, TransformerWrapper, ViTransformerWrapper

SETTINGS = ({}, {"rotary_pos_emb": True}, {"alibi_pos_bias": True}, {"rel_pos_bias": True}, {"use_rmsnorm": True, "ff_glu": True, "ff_swish": True},
            {"attn_qk_norm": True}, {"attn_talking_heads": True}, {"attn_num_mem_kv": 2}, {"macaron": True}, {"residual_attn": True}, {"gate_residual": True},
            {"attn_flash": True}, {"attn_kv_heads": 1}, {"shift_tokens": 1}, {"attn_sparse_topk": 3})


def program():
    torch.set_default_dtype(torch.float64)
    tokens = torch.randint(0, 20, (2, 8))
    for setting in SETTINGS:
        torch.manual_seed(0)
        net = TransformerWrapper(num_tokens=20, max_seq_len=16, attn_layers=Decoder(dim=16, depth=1, heads=2, attn_dim_head=8, **setting))
        out = net(tokens)
        out.pow(2).mean().backward()
        yield str(setting), out.sum(), sum(p.grad.abs().sum() for p in net.parameters() if p.grad is not None)
    model = AutoregressiveWrapper(TransformerWrapper(num_tokens=20, max_seq_len=16, attn_layers=Decoder(dim=16, depth=1, heads=2)))
    yield "loss", model(tokens)
    torch.manual_seed(1)
    yield "generated", model.generate(tokens[:, :3], 4)
    net = ViTransformerWrapper(image_size=8, patch_size=4, num_classes=3, attn_layers=Encoder(dim=8, depth=1, heads=2))
    yield "patches", net(torch.randn(2, 3, 8, 8))
