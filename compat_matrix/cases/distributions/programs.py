"""Programs as people write them: a variational autoencoder, policies, a flow, a mixture, a Bayesian regression."""

from compat_matrix.case import case


def trained(torch, parameters, loss_of, steps=6, lr=0.05):
    optimizer = torch.optim.Adam(parameters, lr=lr)
    losses = []
    for i in range(steps):
        optimizer.zero_grad()
        loss = loss_of(i)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def rounded(losses):
    return [round(x, 3) for x in losses]


@case("distributions.program.autoencoder")
def _(torch):
    D, nn = torch.distributions, torch.nn
    torch.manual_seed(0)
    encoder, decoder = nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 4)), nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 6))
    data = (torch.rand(10, 6) > 0.5).float()

    def loss_of(i):
        mean, log_scale = encoder(data).chunk(2, dim=-1)
        q = D.Independent(D.Normal(mean, log_scale.exp()), 1)
        z = q.rsample()
        p = D.Independent(D.Bernoulli(logits=decoder(z)), 1)
        prior = D.Independent(D.Normal(torch.zeros_like(mean), torch.ones_like(mean)), 1)
        return -(p.log_prob(data) - D.kl_divergence(q, prior)).mean()

    yield "losses", rounded(trained(torch, [*encoder.parameters(), *decoder.parameters()], loss_of))


@case("distributions.program.reinforce")
def _(torch):
    D, nn = torch.distributions, torch.nn
    torch.manual_seed(1)
    policy, states = nn.Linear(3, 4), torch.randn(8, 3)
    chosen = []

    def loss_of(i):
        d = D.Categorical(logits=policy(states))
        actions = d.sample()
        chosen.append(actions.tolist())
        reward = (actions == 2).float()
        return -(d.log_prob(actions) * (reward - reward.mean())).mean() - 0.01 * d.entropy().mean()

    yield "losses", rounded(trained(torch, policy.parameters(), loss_of))
    yield "actions", chosen


@case("distributions.program.flow")
def _(torch):
    D = torch.distributions
    torch.manual_seed(2)
    loc, log_scale, shift = (torch.zeros(2, requires_grad=True) for _ in range(3))
    data = torch.randn(20, 2) * 2 + 1

    def loss_of(i):
        steps = [D.AffineTransform(loc, log_scale.exp(), event_dim=1), D.TanhTransform(cache_size=1), D.AffineTransform(shift, 6.0, event_dim=1)]
        flow = D.TransformedDistribution(D.Independent(D.Normal(torch.zeros(2), torch.ones(2)), 1), steps)
        return -flow.log_prob(data.clamp(-4, 4)).mean() - 0.1 * flow.rsample((5,)).pow(2).mean()

    yield "losses", rounded(trained(torch, [loc, log_scale, shift], loss_of))
    yield "parameters", [p.detach() for p in (loc, log_scale, shift)]


@case("distributions.program.mixture")
def _(torch):
    D = torch.distributions
    torch.manual_seed(3)
    data = torch.cat([torch.randn(15) - 2, torch.randn(15) * 0.5 + 2])
    logits, means, log_scales = torch.zeros(2, requires_grad=True), torch.tensor([-1.0, 1.0], requires_grad=True), torch.zeros(2, requires_grad=True)

    def loss_of(i):
        return -D.MixtureSameFamily(D.Categorical(logits=logits), D.Normal(means, log_scales.exp())).log_prob(data).mean()

    yield "losses", rounded(trained(torch, [logits, means, log_scales], loss_of))
    yield "drawn", D.MixtureSameFamily(D.Categorical(logits=logits), D.Normal(means, log_scales.exp())).sample((4,)).detach()


@case("distributions.program.tanh policy")
def _(torch):
    D, nn = torch.distributions, torch.nn
    torch.manual_seed(4)
    actor, critic, states = nn.Linear(3, 4), nn.Linear(5, 1), torch.randn(8, 3)

    class Squashed(D.TransformedDistribution):
        def __init__(self, loc, scale):
            self.loc = loc
            super().__init__(D.Normal(loc, scale), [D.TanhTransform(cache_size=1)])

        @property
        def mean(self):
            return self.loc.tanh()

    def loss_of(i):
        loc, log_scale = actor(states).chunk(2, dim=-1)
        d = Squashed(loc, log_scale.clamp(-5, 2).exp())
        action = d.rsample()
        log_prob = d.log_prob(action).sum(-1, keepdim=True)
        return (0.2 * log_prob - critic(torch.cat([states, action], -1))).mean() + 0.0 * d.mean.sum()

    yield "losses", rounded(trained(torch, actor.parameters(), loss_of))


@case("distributions.program.relaxed")
def _(torch):
    D = torch.distributions
    torch.manual_seed(5)
    logits, target = torch.zeros(3, 4, requires_grad=True), torch.eye(4)[:3]

    def loss_of(i):
        soft = D.RelaxedOneHotCategorical(torch.tensor(0.7), logits=logits).rsample()
        hard = D.OneHotCategoricalStraightThrough(logits=logits).rsample()
        return ((soft - target) ** 2).mean() + ((hard - target) ** 2).mean()

    yield "losses", rounded(trained(torch, [logits], loss_of))


@case("distributions.program.constrained parameters")
def _(torch):
    D = torch.distributions
    torch.manual_seed(6)
    data = D.Gamma(2.0, 3.0).sample((20,))
    raw = torch.zeros(2, requires_grad=True)
    positive = D.transform_to(D.constraints.positive)

    def loss_of(i):
        a, b = positive(raw)
        return -D.Gamma(a, b).log_prob(data).mean() + D.kl_divergence(D.Gamma(a, b), D.Gamma(1.0, 1.0)) * 0.01

    yield "losses", rounded(trained(torch, [raw], loss_of))
    yield "end", D.transform_to(D.Gamma.arg_constraints["rate"])(raw).detach()


@case("distributions.program.gaussian policy gradient")
def _(torch):
    D, nn = torch.distributions, torch.nn
    torch.manual_seed(7)
    mean, log_std, states = nn.Linear(2, 2), nn.Parameter(torch.zeros(2)), torch.randn(6, 2)
    old = D.MultivariateNormal(mean(states).detach(), scale_tril=torch.diag_embed(log_std.exp()).detach())
    actions = old.sample()
    before, gain = old.log_prob(actions), -(actions ** 2).sum(-1)

    def loss_of(i):
        d = D.MultivariateNormal(mean(states), scale_tril=torch.diag_embed(log_std.exp()))
        ratio = (d.log_prob(actions) - before).exp()
        advantage = gain - gain.mean()
        return -torch.min(ratio * advantage, ratio.clamp(0.8, 1.2) * advantage).mean() - 0.01 * d.entropy().mean() + 0.1 * D.kl_divergence(old, d).mean()

    yield "losses", rounded(trained(torch, [*mean.parameters(), log_std], loss_of))
