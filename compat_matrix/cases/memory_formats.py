"""Memory formats: what lies in one, copies made in one, modules and fresh tensors; strides are metadata here, and have to agree with what is said of them."""

from compat_matrix.case import attempt, case

SHAPES = ((2, 3, 4, 5), (2, 1, 3, 3), (1, 1, 1, 1), (2, 3, 4, 0), (2, 3), (2, 3, 2, 2, 2))


@case("memory_formats.lies_in")
def _(torch):
    for shape in SHAPES:
        x = torch.zeros(shape)
        for form in (torch.channels_last, torch.channels_last_3d, torch.contiguous_format, torch.preserve_format):
            yield f"{shape} {form}", x.is_contiguous(memory_format=form), attempt(lambda x=x, form=form: x.contiguous(memory_format=form).stride())
    y = torch.zeros(2, 4, 5, 3).permute(0, 3, 1, 2)
    yield "permuted", y.is_contiguous(memory_format=torch.channels_last), y.is_contiguous(), y.contiguous(memory_format=torch.channels_last) is y
    yield "views of it", [v.is_contiguous(memory_format=torch.channels_last) for v in (y[:1], y[:, :2], y[:, :, 1:], y.detach())]


@case("memory_formats.refused")
def _(torch):
    x = torch.zeros(2, 3, 4, 5)
    yield "position", attempt(lambda: x.is_contiguous(torch.channels_last)), attempt(lambda: x.is_contiguous(1, 2))
    yield "kind", attempt(lambda: x.is_contiguous(memory_format=3)), attempt(lambda: x.is_contiguous(memory_format="channels_last"))
    yield "rank", [attempt(lambda f=f: f(memory_format=torch.channels_last)) for f in (x[0].clone, x[0].to, lambda **k: torch.empty(2, 3, **k),
        lambda **k: torch.zeros_like(x[0], **k))]
    yield "unknown", attempt(lambda: torch.zeros(2, 3, 4, 5, memory_format=torch.channels_last))


@case("memory_formats.copies")
def _(torch):
    x, last = torch.arange(120.0).reshape(2, 3, 4, 5), torch.channels_last
    for name, y in (("contiguous", x.contiguous(memory_format=last)), ("to", x.to(memory_format=last)), ("clone", x.clone(memory_format=last)),
                    ("double", x.double(memory_format=last)), ("both", x.to(torch.float64, memory_format=last)), ("device", x.to("cpu", memory_format=last))):
        yield name, y.stride(), y.is_contiguous(), y.is_contiguous(memory_format=last), y.dtype, y[1, 2], (y * 1 == x).all()
    y = x.contiguous(memory_format=last)
    yield "back", y.contiguous().stride(), y.to(memory_format=torch.contiguous_format).stride(), y.clone(memory_format=torch.contiguous_format).stride()
    yield "kept", y.clone().stride(), y.detach().stride(), y.to(memory_format=last) is y, y.to(memory_format=torch.preserve_format) is y
    yield "viewed", attempt(lambda: y.view(-1)), y.reshape(-1)[:7], y.permute(0, 2, 3, 1).is_contiguous(), y.permute(0, 2, 3, 1).view(-1)[:7]
    y[0, 1] = -1
    y.view(2, 3, 20)[1] = 0
    yield "written", y, x[0, 1, 0]


@case("memory_formats.gradients")
def _(torch):
    x = torch.arange(24.0).reshape(1, 2, 3, 4).requires_grad_()
    y = x.contiguous(memory_format=torch.channels_last)
    z = y.permute(0, 2, 3, 1).view(-1)
    (z * torch.arange(24.0)).sum().backward()
    yield "grad", y.grad_fn.name(), x.grad


@case("memory_formats.fresh")
def _(torch):
    last, x = torch.channels_last, torch.ones(2, 3, 4, 5)
    made = [torch.empty(2, 3, 4, 5, memory_format=last), torch.zeros_like(x, memory_format=last), torch.ones_like(x, memory_format=last),
            torch.full_like(x, 2.0, memory_format=last), torch.empty_like(x, memory_format=last)]
    yield "strides", [t.stride() for t in made], [t.is_contiguous(memory_format=last) for t in made]
    torch.manual_seed(3)
    yield "drawn", torch.empty(1, 2, 2, 3, memory_format=last).normal_(), torch.empty(1, 2, 2, 3, memory_format=last).uniform_()


@case("memory_formats.modules")
def _(torch):
    nn, last = torch.nn, torch.channels_last
    net = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.Flatten(), nn.Linear(16, 2))
    before = [p.detach().clone() for p in net.parameters()]
    yield "same", net.to(memory_format=last) is net
    yield "strides", [p.stride() for p in net.parameters()], [torch.equal(p, q) for p, q in zip(net.parameters(), before)]
    x = torch.randn(2, 3, 4, 4).to(memory_format=last)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
    for step in range(3):
        optimizer.zero_grad()
        loss = (net(x) ** 2).sum()
        loss.backward()
        optimizer.step()
        yield f"step {step}", loss
    yield "after", net[0].weight, net[0].weight.is_contiguous(memory_format=last)
    other = nn.utils.convert_conv2d_weight_memory_format(nn.Sequential(nn.Conv2d(2, 3, 2), nn.ConvTranspose2d(2, 3, 2), nn.Conv1d(2, 3, 2)), last)
    yield "converted", [m.weight.stride() for m in other]
    yield "3d", nn.utils.convert_conv3d_weight_memory_format(nn.Conv3d(2, 3, 2), torch.channels_last_3d).weight.stride()
    yield "rank", attempt(lambda: nn.Conv3d(2, 3, 2).to(memory_format=last))
