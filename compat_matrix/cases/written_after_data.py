"""Versions of tensors that were given other data: what saved them since is told of later writes."""

from ..case import case


def _told(call):
    try:
        return call()
    except RuntimeError as e:
        return str(e)


@case("written_after_data.versions")
def _(torch):
    def parameter():
        x, w = torch.ones(3, requires_grad=True), torch.nn.Parameter(torch.tensor([1.0, 2.0, 3.0]))
        w.data = w.data * 2
        y = x * w
        with torch.no_grad():
            w.mul_(2)
        y.sum().backward()

    def looked_at():
        x, w = torch.ones(3, requires_grad=True), torch.tensor([1.0, 2.0, 3.0])
        new = w * 2
        new.tolist()
        w.data = new
        y = x * w
        w.mul_(2)
        y.sum().backward()

    def pending():
        x, w = torch.ones(3, requires_grad=True), torch.tensor([1.0, 2.0, 3.0])
        w.data = w.data * 2
        y = x * w
        w.mul_(2)
        y.sum().backward()

    def other_saved():
        x, w, z = torch.ones(3, requires_grad=True), torch.zeros(3), torch.tensor([4.0, 5.0, 6.0])
        w.data = z
        y = x * z
        w.add_(0)
        y.sum().backward()
        return x.grad, w._version, z._version

    def other_written():
        x, w, z = torch.ones(3, requires_grad=True), torch.zeros(3), torch.tensor([4.0, 5.0, 6.0])
        w.data = z
        y = x * w
        z.add_(0)
        y.sum().backward()
        return x.grad, w._version, z._version

    for f in (parameter, looked_at, pending, other_saved, other_written):
        yield f.__name__, _told(f)


@case("written_after_data.turned_aliases")
def _(torch):
    looks = {"nothing": lambda w, y: None, "list": lambda w, y: w.tolist(), "detach": lambda w, y: w.detach(), "view": lambda w, y: w.view(-1),
             "result": lambda w, y: y.tolist(), "sum": lambda w, y: w + 1, "both": lambda w, y: (w.detach(), y.tolist())}
    for name, look in looks.items():
        for turn in ("unsqueeze_", "squeeze_", "add_"):
            def run():
                x, w = torch.tensor([1.0, 3.0, 2.0], requires_grad=True), torch.tensor([1.0, 2.0, 3.0])
                y = x * w
                d = w.detach()
                getattr(d, turn)(0)
                look(w, y)
                y.sum().backward()
                return x.grad

            yield f"{name} {turn}", _told(run)
