"""Attention and transformers."""

from compat_matrix.cases.nn.script import script

script("nn.attention.div", """
look('div', lambda: nn.MultiheadAttention(5, 2))
look('zero', lambda: nn.MultiheadAttention(0, 2))
look('zeroh', lambda: nn.MultiheadAttention(4, 0))
""")

script("nn.attention.p", """
m = nn.MultiheadAttention(4, 2)
x = torch.arange(24.0).reshape(3, 2, 4) / 10
look('p', lambda: {k: v for k, v in m.state_dict().items()})
look('o', lambda: m(x, x, x))
look('nw', lambda: m(x, x, x, need_weights=False))
look('avg', lambda: m(x, x, x, average_attn_weights=False)[1].shape)
""")

script("nn.attention.kp", """
torch.manual_seed(0)
k = nn.MultiheadAttention(4, 2, kdim=3, vdim=5, add_bias_kv=True, add_zero_attn=True, batch_first=True)
look('kp', lambda: [(n, tuple(p.shape)) for n, p in k.named_parameters()])
look('k', lambda: k(torch.ones(2, 3, 4), torch.ones(2, 6, 3), torch.ones(2, 6, 5)))
look('ksd', lambda: k.state_dict())
""")

script("nn.attention.mask", """
m = nn.MultiheadAttention(4, 2)
x = torch.arange(24.0).reshape(3, 2, 4) / 10
mask = torch.triu(torch.ones(3, 3), 1).bool()
look('mask', lambda: m(x, x, x, attn_mask=mask))
look('kpm', lambda: m(x, x, x, key_padding_mask=torch.tensor([[False, True, False], [False, False, True]])))
look('causal', lambda: m(x, x, x, attn_mask=mask, is_causal=True, need_weights=False))
look('fm', lambda: m(x, x, x, attn_mask=mask.float()))
look('both', lambda: m(x, x, x, attn_mask=mask, key_padding_mask=torch.zeros(2, 3)))
look('unb', lambda: m(x[:, 0], x[:, 0], x[:, 0]))
look('bad', lambda: m(x[0, 0], x, x))
look('bad2', lambda: m(x, x[0], x[0]))
look('badmask', lambda: m(x, x, x, attn_mask=torch.ones(2, 2).bool()))
look('badE', lambda: m(torch.ones(3, 2, 5), torch.ones(3, 2, 5), torch.ones(3, 2, 5)))
look('badkpm', lambda: m(x, x, x, key_padding_mask=torch.ones(3, 3).bool()))
look('intmask', lambda: m(x, x, x, attn_mask=mask.int()))
look('causal nomask', lambda: m(x, x, x, is_causal=True))
look('mask3', lambda: m(x, x, x, attn_mask=mask.expand(4, 3, 3))[0].shape)
""")

script("nn.attention.ev", """
m = nn.MultiheadAttention(4, 2)
x = torch.arange(24.0).reshape(3, 2, 4) / 10
m.eval()
look('ev', lambda: m(x, x, x))
with torch.no_grad():
    look('evng', lambda: m(x, x, x))
""")

script("nn.attention.drop", """
x = torch.arange(24.0).reshape(3, 2, 4) / 10
torch.manual_seed(1)
md = nn.MultiheadAttention(4, 2, dropout=0.5)
look('drop', lambda: md(x, x, x))
torch.manual_seed(1)
look('dropnw', lambda: md(x, x, x, need_weights=False)[0])
""")

script("nn.attention.msk all", """
m = nn.MultiheadAttention(4, 2)
x = torch.arange(24.0).reshape(3, 2, 4) / 10
look('msk all', lambda: m(x, x, x, attn_mask=torch.ones(3, 3).bool())[0])
""")

script("nn.attention.e", """
x = torch.arange(24.0).reshape(3, 2, 4) / 10
torch.manual_seed(0)
e = nn.TransformerEncoderLayer(4, 2, 8, dropout=0.0)
look('e', lambda: e(x))
torch.manual_seed(0)
d = nn.TransformerDecoderLayer(4, 2, 8, dropout=0.0, norm_first=True)
look('d', lambda: d(x, x + 1))
""")

script("nn.attention.T", """
x = torch.arange(24.0).reshape(3, 2, 4) / 10
mask = torch.triu(torch.ones(3, 3), 1).bool()
e = nn.TransformerEncoderLayer(4, 2, 8, dropout=0.0)
torch.manual_seed(0)
T = nn.Transformer(4, 2, 1, 1, 8, dropout=0.1)
look('T', lambda: [(n, p.sum().detach()) for n, p in T.named_parameters()][:4])
torch.manual_seed(5)
look('Tf', lambda: T(x, x))
T.eval()
look('Te', lambda: T(x, x))
look('mask', lambda: T.generate_square_subsequent_mask(3))
look('mask', lambda: nn.Transformer.generate_square_subsequent_mask(2, dtype=torch.float64))
look('Tbad', lambda: T(x, torch.ones(3, 3, 4)))
look('Tbad2', lambda: T(torch.ones(3, 2, 5), x))
look('Trepr', lambda: len(repr(T)))
look('act', lambda: nn.TransformerEncoderLayer(4, 2, activation='zz'))
look('enc', lambda: nn.TransformerEncoder(e, 2)(x).shape)
look('encmask', lambda: nn.TransformerEncoder(e, 2)(x, mask=mask, is_causal=None).shape)
look('kpmT', lambda: nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, 8, batch_first=True, dropout=0.0), 1).eval()(x, src_key_padding_mask=torch.tensor([[False, True], [False, False], [False, False]])))
look('encwarn', lambda: nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, 8), 1))
look('enc odd', lambda: nn.TransformerEncoder(nn.TransformerEncoderLayer(3, 3, 8, batch_first=True), 1))
look('encnf', lambda: nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, 8, batch_first=True, norm_first=True), 1))
look('encmod', lambda: nn.TransformerEncoder(nn.Linear(1, 1), 1))
look('ebad', lambda: e(torch.ones(3)))
look('tgt', lambda: T(x, x, tgt_mask=nn.Transformer.generate_square_subsequent_mask(3)))
look('Tbf', lambda: nn.Transformer(4, 2, 1, 1, 8, batch_first=True)(x, torch.ones(2, 2, 4)))
look('Tunb', lambda: T(x[:, 0], x[:, 0]).shape)
look('srcdims', lambda: T(x[0, 0], x))
""")

script("nn.attention.actfn", """
k = nn.MultiheadAttention(4, 2, kdim=3, vdim=5, add_bias_kv=True, add_zero_attn=True, batch_first=True)
d = nn.TransformerDecoderLayer(4, 2, 8, dropout=0.0, norm_first=True)
look('actfn', lambda: vars(nn.TransformerEncoderLayer(4, 2, activation=nn.GELU()))['activation_relu_or_gelu'] if False else list(vars(nn.TransformerEncoderLayer(4, 2, activation=nn.GELU())).keys())[-3:])
look('decvars', lambda: [k for k in vars(d) if not k.startswith('_')])
""")

script("nn.attention.padding", """
def go(pad, layer={}, enc={}, norm=False, mode=torch.no_grad, train=False, mask=None, f=None, req=False, as_float=False):
    torch.manual_seed(0)
    e = nn.TransformerEncoder(nn.TransformerEncoderLayer(**{**dict(d_model=4, nhead=2, dim_feedforward=4, dropout=0., batch_first=True), **layer}), 1, norm=nn.LayerNorm(4) if norm else None, **enc)
    e.train(train)
    if norm:
        nn.init.constant_(e.norm.bias, 0.5)
    if f:
        f(e)
    x, p = torch.randn(2, 3, 4, requires_grad=req), torch.tensor(pad)
    if as_float:
        p = torch.zeros(2, 3).masked_fill(p, float('-inf'))
    with mode(), warnings.catch_warnings():
        warnings.simplefilter('ignore')  # of nested tensors being new
        return e(x, mask=mask, src_key_padding_mask=p)
end, hole, start, row = [[False, False, True], [False] * 3], [[False, True, False], [False] * 3], [[True, False, False], [False] * 3], [[True] * 3, [False] * 3]
look('end', lambda: go(end))
look('inference', lambda: go(end, mode=torch.inference_mode))
look('grad', lambda: go(end, mode=torch.enable_grad))
look('frozen', lambda: go(end, mode=torch.enable_grad, f=lambda e: e.requires_grad_(False)))
look('input', lambda: go(end, mode=torch.enable_grad, f=lambda e: e.requires_grad_(False), req=True))
look('training', lambda: go(end, train=True))
look('norm', lambda: go(end, norm=True))
look('norm first', lambda: go(end, layer=dict(norm_first=True)))
look('off', lambda: go(end, enc=dict(enable_nested_tensor=False)))
look('hole', lambda: go(hole))
look('start', lambda: go(start))
look('row', lambda: go(row)[1])
look('unchecked', lambda: (go(end, enc=dict(mask_check=False)), go(hole, enc=dict(mask_check=False))))
look('mask', lambda: go(end, mask=torch.zeros(3, 3)))
look('floats', lambda: go(end, as_float=True))
look('layer trains', lambda: go(end, f=lambda e: e.layers[0].train()))
look('hooked', lambda: go(end, f=lambda e: e.register_forward_hook(lambda *a: None)))
""")
