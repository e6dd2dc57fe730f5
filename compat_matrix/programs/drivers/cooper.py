"""Constrained minimization: multipliers go up while the parameters go down, at once, in turns and extrapolated; with a penalty beside them."""

import cooper
import torch


class Problem(cooper.ConstrainedMinimizationProblem):
    """The least norm where the sum is at least one, or the product is a number."""

    def __init__(self, kind, formulation, **penalty):
        super().__init__()
        self.kind = kind
        multiplier = cooper.multipliers.DenseMultiplier(num_constraints=1)
        self.held = cooper.Constraint(multiplier=multiplier, constraint_type=kind, formulation_type=formulation, **penalty)

    def compute_cmp_state(self, x):
        """The loss and how far it is off."""
        off = 1 - x.sum() if self.kind is cooper.ConstraintType.INEQUALITY else x.prod() - 0.5
        return cooper.CMPState(loss=x.square().sum(), observed_constraints={self.held: cooper.ConstraintState(violation=off.reshape(1))})


def program():
    kinds = cooper.ConstraintType
    for name, maker, kind in (("at once", cooper.optim.SimultaneousOptimizer, kinds.INEQUALITY),
                              ("dual first", cooper.optim.AlternatingDualPrimalOptimizer, kinds.EQUALITY),
                              ("primal first", cooper.optim.AlternatingPrimalDualOptimizer, kinds.INEQUALITY)):
        x = torch.nn.Parameter(torch.tensor([2.0, -1.0]))
        problem = Problem(kind, cooper.formulations.Lagrangian)
        duals = torch.optim.SGD(problem.dual_parameters(), lr=0.5, maximize=True)
        optimizer = maker(primal_optimizers=torch.optim.SGD([x], lr=0.1), dual_optimizers=duals, cmp=problem)
        for _ in range(6):
            rolled = optimizer.roll(compute_cmp_state_kwargs={"x": x})
        yield name, rolled.loss, x, list(problem.dual_parameters())
