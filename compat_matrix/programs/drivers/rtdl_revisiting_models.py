"""Networks for tables: attention over tokens made from features, residual blocks, an optimizer whose groups are told apart by name."""

import torch
from rtdl_revisiting_models import MLP, CategoricalEmbeddings, FTTransformer, LinearEmbeddings, ResNet


def trained(model, *args):
    model.eval()  # without dropout
    out = model(*args)
    loss = out.pow(2).mean()
    return out, torch.autograd.grad(loss, [*model.parameters()])


def program():
    torch.set_default_dtype(torch.float64)
    x, c = torch.randn(5, 3), torch.tensor([[0, 1], [3, 0], [2, 1], [1, 1], [0, 0]])
    yield "mlp", trained(MLP(d_in=3, d_out=2, n_blocks=2, d_block=8, dropout=0.1), x)
    yield "resnet", trained(ResNet(d_in=3, d_out=2, n_blocks=2, d_block=8, d_hidden=None, d_hidden_multiplier=2.0, dropout1=0.3, dropout2=0.0), x)
    yield "linear", trained(LinearEmbeddings(3, 4), x)
    yield "categories", trained(CategoricalEmbeddings([4, 2], 4, bias=True), c)
    sizes = {"n_blocks": 2, "d_block": 8, "attention_n_heads": 2, "attention_dropout": 0.2, "ffn_d_hidden": None, "ffn_d_hidden_multiplier": 4 / 3,
             "ffn_dropout": 0.1, "residual_dropout": 0.0}
    for more in ({}, {"linformer_kv_compression_ratio": 0.5, "linformer_kv_compression_sharing": "headwise"}):
        model = FTTransformer(n_cont_features=3, cat_cardinalities=[4, 2], d_out=1, **sizes, **more)
        yield "transformer", str(model), trained(model, x, c)
    model = FTTransformer(n_cont_features=3, cat_cardinalities=[4, 2], d_out=1, **sizes)
    optimizer = torch.optim.AdamW(model.make_parameter_groups(), lr=1e-3, weight_decay=1e-2)
    for _ in range(3):
        optimizer.zero_grad()
        loss = model(x, c).square().mean()
        loss.backward()
        optimizer.step()
        yield "step", loss
    yield "groups", [(len(g["params"]), g["weight_decay"]) for g in optimizer.param_groups], [*model.parameters()]
