"""Random numbers like a tensor that has gaps or repeats, and in maps over such tensors."""

from compat_matrix.case import attempt, case


@case("draws_of_maps.like_gaps")
def _(torch):
    kinds = {"step": lambda: torch.ones(4, 12)[:, ::2], "turned": lambda: torch.ones(6, 8).t()[::2], "repeated": lambda: torch.ones(4, 1).expand(4, 6),
             "rows": lambda: torch.ones(1, 6).expand(5, 6), "middle": lambda: torch.ones(4, 3, 6).transpose(0, 1)[:, :, ::2],
             "moved": lambda: torch.ones(4, 3, 5).movedim(-1, 0)[0]}
    for name, make in kinds.items():
        for like in (torch.rand_like, torch.randn_like, lambda x: torch.randint_like(x, 20)):
            torch.manual_seed(3)
            out = like(make())
            yield f"{name} {getattr(like, '__name__', '')}", out, out.stride()


@case("draws_of_maps.like")
def _(torch):
    for randomness in ("same", "different"):
        for where in (0, -1, None):
            x = torch.ones(5, 3, 6) if where is not None else torch.ones(3, 6)
            x = x.movedim(0, -1).contiguous() if where == -1 else x
            for k, like in enumerate((torch.rand_like, torch.randn_like, lambda t: torch.randint_like(t, 20))):
                torch.manual_seed(4)
                out = torch.func.vmap(lambda t, _, like=like: like(t), in_dims=(where, 0), randomness=randomness)(x, torch.ones(5))
                yield f"{randomness} {where} {k}", out


@case("draws_of_maps.written")
def _(torch):
    for randomness in ("same", "different"):
        for where in (0, -1):
            x = torch.ones(5, 4, 6)
            x = x.movedim(0, -1).contiguous() if where == -1 else x
            for name in ("normal_", "uniform_", "exponential_", "bernoulli_"):
                torch.manual_seed(5)
                yield f"{randomness} {where} {name}", torch.func.vmap(lambda t, name=name: getattr(t, name)(), in_dims=where, randomness=randomness)(x.clone())


@case("draws_of_maps.chances")
def _(torch):
    vmap, p = torch.func.vmap, torch.full((4, 3), 0.5)
    torch.manual_seed(0)
    yield "each", vmap(lambda t, q: t.bernoulli_(q), randomness="different")(torch.ones(4, 3), p)
    yield "one", vmap(lambda t, q: t.bernoulli_(q), randomness="different")(torch.ones(4, 3), p[:, 0])
    yield "plain", vmap(lambda t: t.bernoulli_(torch.tensor([0.2, 0.5, 0.9])), randomness="different")(torch.ones(4, 3))
    t = torch.ones(3)
    yield "alone", attempt(lambda: vmap(lambda q: t.bernoulli_(q), randomness="different")(p))
    yield "same", attempt(lambda: vmap(lambda t, q: t.bernoulli_(q), randomness="same")(torch.ones(4, 3), p))


@case("draws_of_maps.of_all_examples")
def _(torch):
    seen = []

    def look(x):
        out = torch.ops.aten._is_all_true(x), torch.ops.aten._is_any_true(x)
        seen.append((out[0].item(), out[1].item(), out[0].shape, torch._C._functorch.is_batchedtensor(out[0])))
        return x

    torch.func.vmap(look)(torch.tensor([True, False]))
    torch.func.vmap(look)(torch.tensor([[True, True]]))
    torch.func.vmap(torch.func.vmap(look))(torch.tensor([[False, False]]))
    yield "seen", seen


@case("draws_of_maps.generators_given")
def _(torch):
    """A generator that is set back is returned, and maps draw from it what the whole batch would."""
    g = torch.Generator()
    state = g.get_state()
    yield "itself", g.set_state(state) is g
    for randomness in ("same", "different"):
        for k, draw in enumerate((lambda t: t.clone().normal_(generator=g), lambda t: torch.bernoulli(t / 2, generator=g),
                                  lambda t: torch.multinomial(t[0], 3, generator=g) if randomness == "different" else torch.rand(3, generator=g))):
            yield f"{randomness} {k}", attempt(lambda draw=draw, g=g.set_state(state): torch.vmap(draw, randomness=randomness)(torch.ones(3, 2, 5)))
