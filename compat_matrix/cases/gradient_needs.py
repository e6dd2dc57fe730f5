"""Which gradients require grad after ``create_graph=True``: each input has a formula of its own, but where torch's gradient is one operator."""

from compat_matrix.probes import each, evaluate, tensors_in

SHAPES = {
    "a": (3, 3), "b": (3, 3), "c": (3, 3), "v": (3,), "w": (3,), "s": (), "t": (2, 3, 3), "u": (2, 3, 3), "x": (2, 4, 5, 5),
    "k": (4, 2, 3, 3), "g": (4,), "h": (4,), "e": (0, 3), "n": (4, 4, 3), "l": (2, 4, 5), "q": (2, 2, 2, 2), "m": (1, 3),
}


def required(torch, expression):
    made = {}
    for k, (name, shape) in enumerate(SHAPES.items()):
        n = torch.Size(shape).numel()
        made[name] = (torch.arange(n, dtype=torch.float64).reshape(shape) * 0.37 + 0.1 * k).sin().add(1.5).requires_grad_()
    names = expression.split("#")[1].split()
    used = [made[name] for name in names]
    i = torch.tensor([0, 2, 1])
    for cotangent in (False, True):
        outs = [o for o in tensors_in(torch, evaluate(torch, expression.split("#")[0], i=i, **made)) if o.requires_grad]
        given = [torch.ones_like(o).requires_grad_(cotangent) for o in outs]
        found = torch.autograd.grad(outs, used, given, create_graph=True, allow_unused=True)
        yield f"all, cotangent {cotangent}", [None if g is None else (g.requires_grad, g.grad_fn is None) for g in found]
        for name in names[:2]:
            x = made[name]
            outs = [o for o in tensors_in(torch, evaluate(torch, expression.split("#")[0], i=i, **made)) if o.requires_grad]
            g = torch.autograd.grad(outs, x, given, create_graph=True, allow_unused=True)[0]
            yield f"one, cotangent {cotangent}, {name}", None if g is None else g.requires_grad


# expression # the inputs that it uses
EXPRESSIONS = [
    "torch.add(a, b) # a b", "torch.mul(a, b) # a b", "a / b # a b", "torch.addmm(a, b, c) # a b c", "torch.addmv(v, a, w) # v a w",
    "torch.addr(a, v, w) # a v w", "torch.addcmul(a, b, c) # a b c", "torch.addcdiv(a, b, c) # a b c", "torch.baddbmm(a, t, u) # a t u",
    "torch.addbmm(a, t, u) # a t u", "a @ v # a v", "torch.einsum('ij,jk->ik', a, b) # a b", "F.linear(a, b, v) # a b v", "F.linear(a, b) # a b",
    "F.bilinear(a, b, t, v[:2]) # a b t v", "torch.lerp(a, b, 0.3) # a b", "torch.lerp(a, b, s) # a b s", "torch.where(a > 1.5, a, b) # a b",
    "torch.maximum(a, b) # a b", "torch.fmin(a, b) # a b", "torch.atan2(a, b) # a b", "a ** b # a b", "a ** 2 # a", "2 ** a # a",
    "torch.fmod(a, b) # a b", "torch.remainder(a, b) # a b", "torch.xlogy(a, b) # a b", "torch.special.xlog1py(a, b) # a b",
    "torch.hypot(a, b) # a b", "torch.logaddexp(a, b) # a b", "torch.copysign(a, b) # a b", "torch.clamp(a, b, c) # a b c",
    "torch.clamp_min(a, b) # a b", "torch.dist(a, b) # a b", "torch.cdist(a, b) # a b", "torch.cross(a, b, dim=1) # a b",
    "torch.linalg.solve(a, b) # a b", "torch.linalg.lstsq(a, b).solution # a b", "torch.linalg.solve_triangular(a, b, upper=True) # a b",
    "torch.cholesky_solve(b, a) # a b", "torch.triangular_solve(b, a).solution # a b", "torch.linalg.qr(a) # a", "torch.linalg.svd(a)[1] # a",
    "torch.linalg.eigh(a) # a", "torch.linalg.eigvalsh(a) # a", "torch.linalg.householder_product(a, v) # a v", "torch.ormqr(a, v, b) # a b",
    "torch.linalg.lu_solve(*torch.linalg.lu_factor(a), b) # a b", "torch.cat([a, b]) # a b", "torch.stack([a, b]) # a b",
    "a.index_put((i,), b) # a b", "a.index_add(0, i, b) # a b", "a.index_copy(0, i, b) # a b", "a.index_fill(0, i, s) # a s",
    "a.masked_fill(a > 1.5, s) # a s", "a.masked_scatter(a > 1.5, b) # a b", "a.scatter(0, i[None], m) # a m", "a.scatter_add(0, i[None], m) # a m",
    "a.scatter_reduce(0, i[None], m, 'sum') # a m", "a.scatter_reduce(0, i[None], m, 'prod') # a m", "a.scatter_reduce(0, i[None], m, 'mean') # a m",
    "a.scatter_reduce(0, i[None], m, 'amax') # a m", "a.index_reduce(0, i, b, 'prod') # a b", "a.index_reduce(0, i, b, 'amin') # a b",
    "torch.select_scatter(a, v, 0, 1) # a v", "torch.slice_scatter(a, b, 0) # a b", "torch.diagonal_scatter(a, v) # a v",
    "torch.as_strided_scatter(a, v, (3,), (1,)) # a v", "a.put(i, v) # a v", "torch.put(a, i, v, accumulate=True) # a v",
    "torch.renorm(a, 2, 0, 1.0) # a", "F.prelu(x, g) # x g", "F.conv2d(x, k.repeat(1, 2, 1, 1), h) # x k h", "F.conv2d(x, k, h, groups=2) # x k h",
    "F.conv_transpose2d(x, k, groups=1, bias=v[:2]) # x k v", "F.conv1d(l, n, g) # l n g", "F.layer_norm(a, (3,), v, w) # a v w",
    "F.group_norm(x, 2, g, h) # x g h", "F.batch_norm(x, None, None, g, h, training=True) # x g h",
    "F.batch_norm(x, g.detach(), h.detach(), g, h) # x g h", "F.instance_norm(x, None, None, g, h) # x g h", "F.rms_norm(a, (3,), v) # a v",
    "F.embedding(i, a) # a", "F.embedding_bag(i[None], a, mode='sum') # a", "F.embedding_bag(i[None], a, mode='mean') # a",
    "F.embedding_bag(i[None], a, mode='max') # a", "F.mse_loss(a, b) # a b", "F.l1_loss(a, b) # a b", "F.smooth_l1_loss(a, b) # a b",
    "F.huber_loss(a, b) # a b", "F.binary_cross_entropy(a / 4, b / 4) # a b", "F.binary_cross_entropy_with_logits(a, b) # a b",
    "F.kl_div(a, b, reduction='sum') # a b", "F.kl_div(a, b, reduction='sum', log_target=True) # a b", "F.cross_entropy(a, i) # a",
    "F.cross_entropy(a, b) # a b", "F.nll_loss(a, i) # a", "F.gaussian_nll_loss(a, b, c) # a b c", "F.poisson_nll_loss(a, b) # a b",
    "F.cosine_embedding_loss(a, b, torch.ones(3)) # a b", "F.margin_ranking_loss(v, w, torch.ones(3)) # v w", "F.soft_margin_loss(a, b.detach()) # a",
    "F.triplet_margin_loss(a, b, c) # a b c", "F.hinge_embedding_loss(a, b) # a b", "F.cosine_similarity(a, b) # a b",
    "F.pairwise_distance(a, b) # a b", "F.pdist(a) # a", "F.grid_sample(x, q - 1.5, align_corners=False) # x q",
    "F.scaled_dot_product_attention(t, u, u) # t u", "F.scaled_dot_product_attention(t[None], u[None], u[None], is_causal=True) # t u",
    "torch.polar(a, b) # a b", "torch.complex(a, b) # a b", "torch.igamma(a.detach(), b) # b", "torch.var_mean(a, 0) # a", "torch.std_mean(a, 0) # a",
    "torch.aminmax(a) # a", "torch.sort(a) # a", "torch.frexp(a) # a", "torch._weight_norm(a, v[:, None]) # a v", "torch.linalg.slogdet(a) # a",
    "torch.logcumsumexp(a, 0) # a", "torch.special.zeta(2.0, a) # a", "torch.sub(a, b) # a b", "torch.rsub(a, b) # a b", "torch.dot(v, w) # v w",
    "torch.outer(v, w) # v w", "torch.kron(a, b) # a b", "torch.tensordot(a, b, 1) # a b", "torch.bmm(t, u) # t u", "torch.trapezoid(a, b) # a b",
    "torch.cumulative_trapezoid(a, b) # a b", "torch.gradient(a)[0] # a", "torch.combinations(v) # v", "torch.cov(a) # a", "torch.fft.fft(a) # a",
    "torch.stft(v, 3, 1, window=w, return_complex=True) # v w", "F.silu(a) # a", "F.relu(a) # a", "torch.abs(a) # a", "torch.floor(a) # a",
    "torch.sign(a) # a", "torch.round(a) # a", "F.hardtanh(a) # a", "F.threshold(a, 1, 2) # a", "torch.cummax(a, 0)[0] # a", "F.glu(k, 1) # k",
    "F.softmax(a, 0) # a", "F.max_pool2d(x, 2) # x", "F.avg_pool2d(x, 2) # x", "F.interpolate(x, scale_factor=2) # x",
    "F.pad(l, (1, 1), 'reflect') # l",
]
EXPRESSIONS += [
    "F.prelu(a, v[:1].detach()) # a", "F.rrelu(a, training=True) # a", "F.conv1d(l.to(torch.complex128), n.to(torch.complex128), g.to(torch.complex128)) # l n g",
    "torch._native_batch_norm_legit(x, g, h, g.detach().clone(), h.detach().clone(), True, 0.1, 1e-5)[0] # x g h", "torch._native_batch_norm_legit(x, g, h, True, 0.1, 1e-5)[0] # x g h",
]
EXPRESSIONS += [f"{f} # e" for f in (
    "e * 2", "e ** 2", "e.exp()", "e.sum()", "e.prod(0)", "e.mean(0)", "F.relu(e)", "F.hardshrink(e)", "F.hardtanh(e)", "torch.linalg.pinv(e)",
    "e.cumsum(0)", "e * e", "e.t() @ e", "e.sin()", "e.clone()", "e.abs()", "e.clamp(min=1)", "F.softmax(e, 1)", "e.var(1)", "e.norm()", "e.norm(1)",
    "F.gelu(e)", "e.cumprod(0)", "e.logsumexp(1)", "e.view(3, 0)", "e.sort(1)[0]",
)]
each("gradient_needs.of", required, {e.split("#")[0].strip(): e for e in EXPRESSIONS})


def alone(torch, expression):
    made = {k: torch.ones(s, dtype=torch.float64).mul(1.5).requires_grad_() for k, s in SHAPES.items()}
    text, name = expression.split("#")
    out = evaluate(torch, text, **made)
    yield "requires_grad", torch.autograd.grad(out.sum(), made[name.strip()], create_graph=True)[0].requires_grad


BIASES = ["F.conv2d(x, k, h, groups=2) # h", "F.conv_transpose2d(x, k, groups=1, bias=v[:2]) # v", "F.layer_norm(a, (3,), v, w) # w", "F.linear(a, b, v) # v",
    "F.batch_norm(x, None, None, g, h, training=True) # h", "F.group_norm(x, 2, g, h) # h"]
each("gradient_needs.alone", alone, {e.split("#")[0].strip(): e for e in BIASES})
