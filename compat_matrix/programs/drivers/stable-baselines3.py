"""Agents of three kinds, a few steps each; sums of their weights."""

import stable_baselines3 as sb3

RUNS = (("PPO", "CartPole-v1", {"n_steps": 16, "batch_size": 8, "n_epochs": 2}, 32), ("A2C", "CartPole-v1", {}, 20),
        ("SAC", "Pendulum-v1", {"learning_starts": 10, "batch_size": 8}, 14))


def program():
    for name, world, options, steps in RUNS:
        agent = getattr(sb3, name)("MlpPolicy", world, seed=0, device="cpu", policy_kwargs={"net_arch": [8]}, **options)
        agent.learn(steps)
        yield name, [round(p.double().sum().item(), 3) for p in agent.policy.parameters()]
