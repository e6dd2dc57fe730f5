"""A small decoder in several variants, trained for two steps, and sampled."""

import torch
from x_transformers import AutoregressiveWrapper, Decoder, TransformerWrapper

VARIANTS = {"plain": {}, "rotary": {"rotary_pos_emb": True, "attn_flash": True}, "alibi": {"alibi_pos_bias": True},
            "glu": {"use_rmsnorm": True, "ff_glu": True, "ff_swish": True}, "qk_norm": {"attn_qk_norm": True}}


def program():
    for name, options in VARIANTS.items():
        torch.manual_seed(0)
        net = AutoregressiveWrapper(TransformerWrapper(num_tokens=20, max_seq_len=12, attn_layers=Decoder(dim=16, depth=1, heads=2, **options)))
        optimizer, tokens, losses = torch.optim.SGD(net.parameters(), 0.1), torch.randint(0, 20, (2, 10)), []
        for _ in range(2):
            optimizer.zero_grad()
            loss = net(tokens)
            loss.backward()
            optimizer.step()
            losses.append(loss.detach())
        yield name, torch.stack(losses), torch.stack([p.grad.abs().sum() for p in net.parameters() if p.grad is not None])
    net.eval()
    torch.manual_seed(1)
    yield "sampled", net.generate(tokens[:, :3], 3)
