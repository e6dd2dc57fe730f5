"""Of which class the states are that an optimizer makes for a parameter of a subclass, and that its steps go on."""

from compat_matrix.case import case


@case("states_of_subclasses.classes")
def _(torch):
    class Own(torch.Tensor):
        pass

    class Plain(torch.Tensor):
        __torch_function__ = torch._C._disabled_torch_function_impl

    class Named(torch.nn.Parameter):
        pass

    makers = {"Adam": {"amsgrad": True}, "AdamW": {"foreach": False}, "RMSprop": {"centered": True}, "Adagrad": {"initial_accumulator_value": 0.1},
              "Adadelta": {}, "Adamax": {}, "NAdam": {}, "RAdam": {}, "SGD": {"momentum": 0.9}, "Rprop": {}, "ASGD": {}, "Adafactor": {}}
    for cls in (Own, Plain, Named):
        for name, options in makers.items():
            p = cls(torch.arange(3.0)) if cls is Named else torch.arange(3.0).as_subclass(cls).requires_grad_()
            optimizer = getattr(torch.optim, name)([p], lr=0.1, **options)
            for _ in range(3):
                optimizer.zero_grad()
                (p * p).sum().backward()
                optimizer.step()
            yield f"{cls.__name__} {name}", type(p).__name__, {k: type(v).__name__ for k, v in optimizer.state[p].items()}, p.detach().as_subclass(torch.Tensor)
