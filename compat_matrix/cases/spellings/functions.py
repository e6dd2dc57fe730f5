"""Functions of torch and torch.nn.functional."""

from compat_matrix.case import case
from compat_matrix.probes import each, probe

M = [[4.0, 1.0, 0.5], [1.0, 3.0, 0.25], [0.5, 0.25, 2.0]]
V = [0.5, -1.5, 2.0]
LINE = [[[0.5, -1.0, 2.0, 0.25, 1.5, -0.75]]]
IMAGE = [[[[0.5, -1.0, 2.0, 0.25], [1.5, -0.75, 0.1, 0.9], [-0.3, 0.6, 1.1, -1.2], [0.8, 0.2, -0.5, 0.4]]]]

VIEWS = {
    "adjoint": "torch.adjoint(m)", "as_strided": "torch.as_strided(m, (2, 2), (3, 1), 1)", "atleast_1d": "torch.atleast_1d(v[0], m)", "atleast_3d": "torch.atleast_3d(v, m)",
    "broadcast_to": "torch.broadcast_to(v, (2, 3))", "chunk": "torch.chunk(m, 2)", "column_stack": "torch.column_stack((v, m))", "corrcoef": "torch.corrcoef(m)",
    "dsplit": "torch.dsplit(m.reshape(1, 3, 3), 3)", "dstack": "torch.dstack((v, m[0]))", "flatten": "torch.flatten(m)", "fliplr": "torch.fliplr(m)", "flipud": "torch.flipud(m)",
    "hsplit": "torch.hsplit(m, 3)", "vsplit": "torch.vsplit(m, 3)", "moveaxis": "torch.moveaxis(m, 0, 1)", "movedim": "torch.movedim(m, 0, 1)", "narrow": "torch.narrow(m, 1, 0, 2)",
    "nanmean": "torch.nanmean(m, 0)", "ravel": "torch.ravel(m)", "row_stack": "torch.row_stack((v, m))", "swapaxes": "torch.swapaxes(m, 0, 1)", "swapdims": "torch.swapdims(m, 0, 1)",
    "tensor_split": "torch.tensor_split(m, (1,), 1)", "tile": "torch.tile(v, (2, 2))", "unflatten": "torch.unflatten(m, 1, (3, 1))", "unsafe_chunk": "torch.unsafe_chunk(m, 3)",
    "frobenius_norm": "torch.frobenius_norm(m, (0, 1))", "resolve_neg": "torch.resolve_neg(v)", "pdist": "torch.pdist(m)", "linalg_diagonal": "torch.linalg.diagonal(m)",
    "linalg_vander": "torch.linalg.vander(v, N=4)", "lu_solve": "torch.lu_solve(m[:, :1], *torch.linalg.lu_factor(m.detach()))", "conj_physical_": "torch.conj_physical_(v.clone())",
    "fill_": "torch.fill_(v.clone(), m[0, 0])", "index_put_": "torch.index_put_(v.clone(), (torch.tensor([0, 2]),), m[0, :2])", "prelu": "torch.prelu(v, m[0, :1])", "selu": "torch.selu(v)",
    "selu_": "torch.selu_(v.clone())"}

LAYERS = {
    "bilinear": "torch.bilinear(v, v, m.reshape(1, 3, 3))", "batch_norm": "torch.batch_norm(m, v, v, None, None, True, 0.1, 1e-5, False)", "group_norm": "torch.group_norm(m, 3)",
    "instance_norm": "torch.instance_norm(m.reshape(1, 3, 3), None, None, None, None, True, 0.1, 1e-5, False)",
    "cosine_similarity": "torch.cosine_similarity(m, v, 1)", "cosine_embedding_loss": "torch.cosine_embedding_loss(m, m.flip(0), torch.tensor([1, -1, 1]))",
    "hinge_embedding_loss": "torch.hinge_embedding_loss(v, torch.tensor([1, -1, 1]))", "kl_div": "torch.kl_div(v, m[0])", "margin_ranking_loss": "torch.margin_ranking_loss(v, m[0], torch.tensor([1, -1, 1]))",
    "poisson_nll_loss": "torch.poisson_nll_loss(v, m[0], True, False, 1e-8, 1)", "triplet_margin_loss": "torch.triplet_margin_loss(m, m.flip(0), m.flip(1))",
    "rnn_relu_cell": "torch.rnn_relu_cell(m, m.flip(0), m, m.t())", "rnn_tanh_cell": "torch.rnn_tanh_cell(m, m.flip(0), m, m.t())",
    "ctc_loss": "torch.ctc_loss(m.reshape(3, 1, 3).log_softmax(2), torch.tensor([[1, 2]]), torch.tensor([3]), torch.tensor([2]))",
    "multilabel_margin_loss": "F.multilabel_margin_loss(v, torch.tensor([1, -1, 0]))", "hardtanh_": "F.hardtanh_(v.clone())", "leaky_relu_": "F.leaky_relu_(v.clone(), 0.1)",
    "triplet_margin_with_distance_loss": "F.triplet_margin_with_distance_loss(m, m.flip(0), m.flip(1))"}

PLANES = {
    "conv1d": "torch.conv1d(line, line[:, :, :2])", "conv_transpose1d": "torch.conv_transpose1d(line, line[:, :, :2])", "conv_transpose2d": "torch.conv_transpose2d(image, image[:, :, :2, :2])",
    "conv3d": "torch.conv3d(image[None], image[None, :, :, :2, :2])", "conv_transpose3d": "torch.conv_transpose3d(image[None], image[None, :, :, :2, :2])",
    "max_pool1d": "torch.max_pool1d(line, 2)", "max_pool2d": "torch.max_pool2d(image, 2)", "max_pool3d": "torch.max_pool3d(image, (1, 2, 2))", "max_pool1d_with_indices": "torch.max_pool1d_with_indices(line, 2)",
    "F.max_pool1d_with_indices": "F.max_pool1d_with_indices(line, 2)", "F.max_pool2d_with_indices": "F.max_pool2d_with_indices(image, 2)", "F.max_pool3d_with_indices": "F.max_pool3d_with_indices(image, (1, 2, 2))",
    "F.adaptive_max_pool1d_with_indices": "F.adaptive_max_pool1d_with_indices(line, 2)", "F.adaptive_max_pool2d_with_indices": "F.adaptive_max_pool2d_with_indices(image, 2)",
    "F.adaptive_max_pool3d_with_indices": "F.adaptive_max_pool3d_with_indices(image, (1, 2, 2))",
    "F.fractional_max_pool2d_with_indices": "F.fractional_max_pool2d_with_indices(image, 2, output_size=2, _random_samples=torch.full((1, 1, 2), 0.3, dtype=torch.float64))",
    "F.fractional_max_pool3d_with_indices": "F.fractional_max_pool3d_with_indices(torch.cat((image[None], -image[None]), 2), (1, 2, 2), output_size=(1, 2, 2), _random_samples=torch.full((1, 1, 3), 0.3, dtype=torch.float64))",
    "grid_sampler": "torch.grid_sampler(image, image[:, 0, :, :2].reshape(1, 2, 2, 2), 0, 0, False)"}

RANDOM = {
    "alpha_dropout": "torch.alpha_dropout(v, 0.5, True)", "alpha_dropout_": "torch.alpha_dropout_(v.clone(), 0.5, True)", "dropout_": "torch.dropout_(v.clone(), 0.5, True)",
    "feature_alpha_dropout": "torch.feature_alpha_dropout(m, 0.5, True)", "feature_alpha_dropout_": "torch.feature_alpha_dropout_(m.clone(), 0.5, True)",
    "feature_dropout": "torch.feature_dropout(m, 0.5, True)", "feature_dropout_": "torch.feature_dropout_(m.clone(), 0.5, True)", "rrelu": "torch.rrelu(v, 0.1, 0.3, True)",
    "rrelu_": "torch.rrelu_(v.clone(), 0.1, 0.3, True)", "F.alpha_dropout": "F.alpha_dropout(v, 0.5, True)", "F.feature_alpha_dropout": "F.feature_alpha_dropout(m, 0.5, True)",
    "F.dropout1d": "F.dropout1d(m, 0.5)", "F.dropout2d": "F.dropout2d(m.reshape(1, 3, 3, 1), 0.5)", "F.dropout3d": "F.dropout3d(m.reshape(1, 3, 3, 1, 1), 0.5)"}

each("spellings.views", lambda torch, expression: probe(torch, expression, m=M, v=V), VIEWS)
each("spellings.layers", lambda torch, expression: probe(torch, expression, order=1, m=M, v=V), LAYERS)
each("spellings.planes", lambda torch, expression: probe(torch, expression, order=1, line=LINE, image=IMAGE), PLANES)
each("spellings.random", lambda torch, expression: probe(torch, expression, order=1, m=M, v=V), RANDOM)

FACTS = {
    "windows": "torch.blackman_window(5), torch.hamming_window(5), torch.kaiser_window(5), torch.kaiser_window(4, False, 8.0)", "unravel_index": "torch.unravel_index(torch.tensor([5, 7]), (3, 4))",
    "is": "torch.is_neg(torch.ones(1)), torch.is_same_size(torch.ones(1), torch.ones(2)), torch.is_signed(torch.ones(1))", "resize_as_": "torch.resize_as_(torch.ones(1), torch.ones(2, 3)).shape",
    "embedding_renorm_": "torch.embedding_renorm_(torch.arange(6.0).reshape(3, 2), torch.tensor([2, 1]), 1.0, 2.0)",
    "as_strided_": "torch.as_strided_(torch.arange(6.0), (2, 2), (3, 1), 1)", "device": "torch.get_default_device()", "precision": "torch.get_float32_matmul_precision()",
    "deterministic": "torch.are_deterministic_algorithms_enabled(), torch.is_deterministic_algorithms_warn_only_enabled()"}


@case("spellings.settings")
def _(torch):
    yield "warn always", torch.is_warn_always_enabled(), torch.set_warn_always(False), torch.is_warn_always_enabled(), torch.set_warn_always(True)
    try:
        torch.use_deterministic_algorithms(True, warn_only=True)
        yield "deterministic", torch.are_deterministic_algorithms_enabled(), torch.is_deterministic_algorithms_warn_only_enabled()
        torch.set_float32_matmul_precision("high")
        yield "precision", torch.get_float32_matmul_precision()
        torch.set_default_device("cpu")
        yield "device", torch.get_default_device(), torch.ones(1).device
        torch.set_default_tensor_type(torch.DoubleTensor)
        yield "type", torch.ones(1).dtype
    finally:
        torch.use_deterministic_algorithms(False)
        torch.set_float32_matmul_precision("highest")
        torch.set_default_device(None)
        torch.set_default_tensor_type(torch.FloatTensor)


@case("spellings.generator")
def _(torch):
    g = torch.Generator().manual_seed(3)
    state = g.get_state()
    first = torch.rand(3, generator=g)
    twin = g.clone_state()
    yield "clone", torch.equal(torch.rand(3, generator=g), torch.rand(3, generator=twin))
    g.set_state(state)
    yield "again", torch.equal(torch.rand(3, generator=g), first), state.dtype
    yield "seed", isinstance(g.seed(), int), isinstance(torch.seed(), int), isinstance(torch.random.seed(), int)


def fact(torch, expression):
    yield "facts", eval(expression, {"torch": torch})


each("spellings.facts", fact, FACTS)


@case("spellings.old_initialisers")
def _(torch):
    init = torch.nn.init
    for name, options in (("constant", {"val": 2.0}), ("eye", {}), ("normal", {}), ("orthogonal", {}), ("xavier_normal", {}), ("xavier_uniform", {}), ("kaiming_normal", {}), ("kaiming_uniform", {}),
                          ("sparse", {"sparsity": 0.5})):
        torch.manual_seed(1)
        yield name, getattr(init, name)(torch.empty(4, 4), **options)
    yield "dirac", init.dirac(torch.empty(2, 2, 3))


@case("spellings.fusion")
def _(torch):
    conv, norm, line = torch.nn.Conv2d(1, 1, 2), torch.nn.BatchNorm2d(1).eval(), torch.nn.Linear(2, 1)
    for p in (*conv.parameters(), *line.parameters()):
        torch.nn.init.constant_(p, 0.5)
    fused = torch.nn.utils.fuse_conv_bn_eval(conv.eval(), norm)
    yield "convolution", fused(torch.ones(1, 1, 3, 3)).detach(), [p.detach() for p in torch.nn.utils.fuse_conv_bn_weights(conv.weight, conv.bias, norm.running_mean, norm.running_var, 1e-5, norm.weight, norm.bias)]
    flat = torch.nn.BatchNorm1d(1).eval()
    yield "linear", torch.nn.utils.fuse_linear_bn_eval(line.eval(), flat)(torch.ones(1, 2)).detach()
    yield "weights", [p.detach() for p in torch.nn.utils.fuse_linear_bn_weights(line.weight, line.bias, flat.running_mean, flat.running_var, 1e-5, flat.weight, flat.bias)]


@case("spellings.global_module_hooks")
def _(torch):
    module, seen = torch.nn.modules.module, []
    handles = [
        module.register_module_forward_pre_hook(lambda m, x: seen.append("before")), module.register_module_forward_hook(lambda m, x, y: seen.append("after")),
        module.register_module_full_backward_pre_hook(lambda m, g: seen.append("back before")), module.register_module_full_backward_hook(lambda m, i, o: seen.append("back after")),
        module.register_module_buffer_registration_hook(lambda m, n, b: seen.append(f"buffer {n}")), module.register_module_parameter_registration_hook(lambda m, n, p: seen.append(f"parameter {n}")),
        module.register_module_module_registration_hook(lambda m, n, c: seen.append(f"module {n}"))]
    try:
        net = torch.nn.Sequential(torch.nn.Linear(2, 1))
        net.register_buffer("kept", torch.ones(1))
        net.register_module("more", torch.nn.Identity())
        net(torch.ones(1, 2)).sum().backward()
    finally:
        for handle in handles:
            handle.remove()
    yield "seen", seen
    net(torch.ones(1, 2))
    yield "after removal", len(seen)
