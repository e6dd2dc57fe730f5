"""Third-party libraries, unmodified: the same small program under PyTorch and under this package.

    python -m compat_matrix.programs list
    python -m compat_matrix.programs run [NAME ...] [--cache DIR] [-v]     under this package, compared with what was recorded
    python -m compat_matrix.programs record [NAME ...] [--cache DIR]       with an interpreter that has PyTorch: writes expected/

`programs.toml` names the programs, one table each:

    [torchdiffeq]
    needs = ["torchdiffeq==0.2.5", "scipy==1.17.1"]    # from PyPI, without their dependencies: the library first, then what it imports
    licence = "MIT"
    does = "ODE solvers and the adjoint method"

A library is fetched by pip into a folder of its own below the cache (a temporary folder unless ``--cache`` or ``TLA_PROGRAMS_CACHE`` names one to keep);
nothing of it is kept in the repository.  `drivers/NAME.py` is our program: it imports torch and the library, and its function `program` is a generator
that yields what it sees as ``label, value, ...`` (tensors, numbers, strings, containers: what `compat_matrix.observe` can write down).  It runs in a process
of its own, plainly under PyTorch and by ``python -m torchlike_autograd`` here, after ``torch.manual_seed(0)``.  Values are compared as those of cases are: by
the tolerance of their dtype, so a driver takes few steps, in float64 where the library lets it.

`gaps.toml` of the cases has a sister here, `compat_matrix/gaps_programs.toml`: a table for each program that does not agree yet, whose `reason` names the first
missing thing, with a `kind` as there.  A listed program that agrees fails the run until its table is deleted.

`tests/test_programs.py` checks that table, drivers and answers fit together, and runs the programs where TLA_PROGRAMS_CACHE is set.

A new program: a table, a driver, `record` under PyTorch, `run` here; then what differs is mended, or listed.
"""
