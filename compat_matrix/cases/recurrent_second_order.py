"""Second order of recurrent layers: the gradient of relu has a derivative of its own, zero, so that it reaches all that the gates are made of."""

from compat_matrix.probes import each


def second(torch, expression):
    turns, layers, packed, nonlinearity = expression
    torch.manual_seed(0)
    net = torch.nn.RNN(2, 3, layers, nonlinearity=nonlinearity).double()
    x, h = (torch.randn(*s, dtype=torch.float64, requires_grad=True) for s in ((turns, 2, 2), (layers, 2, 3)))
    out, last = net(torch.nn.utils.rnn.pack_padded_sequence(x, [turns, 1]) if packed else x, h)
    needs = [x, h, *net.parameters()]
    first = torch.autograd.grad((out.data if packed else out).pow(2).sum() + last.sum(), needs, create_graph=True)
    for k, g in enumerate(first):
        yield f"{k}", torch.autograd.grad(g.pow(2).sum(), needs, allow_unused=True, retain_graph=True)
    g = torch.autograd.grad(net(x, h)[0].sum(), x, create_graph=True)[0]
    yield "of a sum", torch.autograd.grad(g.sum(), needs, allow_unused=True)


each("recurrent_second_order.of", second, {
    f"{nonlinearity} {turns} {layers}{' packed' if packed else ''}": (turns, layers, packed, nonlinearity)
    for nonlinearity in ("relu", "tanh") for turns in (1, 3) for layers in (1, 2) for packed in (False, True)})
