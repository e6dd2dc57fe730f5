"""Steps of parameters in half precision: each operator of a step computes in single precision and rounds its result, as PyTorch's kernels do."""

from compat_matrix.case import case

ALL = {"SGD": {"momentum": 0.9, "dampening": 0.1}, "Adam": {"amsgrad": True}, "AdamW": {}, "Adagrad": {"lr_decay": 0.1}, "Adamax": {}, "ASGD": {},
       "NAdam": {"decoupled_weight_decay": True}, "RAdam": {"decoupled_weight_decay": True}, "Rprop": {}}


@case("steps_rounded_by_operator.bfloat16")
def _(torch):
    for name, options in ALL.items():
        p = torch.nn.Parameter((torch.arange(4.0).reshape(2, 2) + 1).bfloat16())
        optimizer = getattr(torch.optim, name)([p], lr=0.1, **options)
        for g in (1.0, -0.5, 0.25):
            p.grad = torch.full((2, 2), g, dtype=torch.bfloat16)
            optimizer.step()
        yield name, p.detach().float().tolist(), {k: v.float().tolist() for k, v in optimizer.state[p].items()}


@case("steps_rounded_by_operator.decayed")
def _(torch):
    for name in ("SGD", "AdamW"):
        for kind in (torch.bfloat16, torch.float16):
            p = torch.nn.Parameter((torch.arange(4.0).reshape(2, 2) + 1).to(kind))
            optimizer = getattr(torch.optim, name)([p], lr=0.1, weight_decay=0.1)
            for g in (1.0, -0.5, 0.25):
                p.grad = torch.full((2, 2), g, dtype=kind)
                optimizer.step()
            yield f"{name} {kind}", p.detach().float().tolist()
