"""JAX's own settings, whatever a program says of them, change no number and break no step."""

import jax
import pytest
from jax.experimental.compilation_cache import compilation_cache

import torchlike_autograd as torch
from torchlike_autograd._core import execute


def _three_steps():
    torch.manual_seed(0)
    net = torch.nn.Sequential(torch.nn.Linear(5, 4), torch.nn.Tanh(), torch.nn.Linear(4, 2))
    optimizer = torch.optim.Adam(net.parameters(), lr=0.1)
    x, y = torch.randn(6, 5), torch.tensor([0, 1, 1, 0, 1, 0])
    losses = []
    for _ in range(3):
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(net(x), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    _, s, _ = torch.linalg.svd(x.double().requires_grad_())
    s.sum().backward()
    return losses, [p.tolist() for p in net.parameters()], s.tolist(), (torch.tensor(2**40) + 1).item(), torch.sort(x[0]).indices.tolist()


SETTINGS = [
    ("jax_disable_jit", True), ("jax_enable_x64", True), ("jax_debug_nans", True), ("jax_debug_infs", True), ("jax_numpy_dtype_promotion", "strict"),
    ("jax_numpy_rank_promotion", "raise"), ("jax_default_matmul_precision", "bfloat16"), ("jax_enable_checks", True),
]


@pytest.mark.parametrize(("name", "value"), SETTINGS, ids=[n for n, _ in SETTINGS])
def test_a_setting_changes_nothing(name, value):
    execute.clear_caches()
    plain = _three_steps()
    before = getattr(jax.config, name)
    jax.config.update(name, value)
    try:
        execute.clear_caches()
        losses, parameters, s, big, order = _three_steps()
    finally:
        jax.config.update(name, before)
    assert losses == pytest.approx(plain[0], rel=1e-6)
    for got, wanted in zip(parameters, plain[1], strict=True):
        torch.testing.assert_close(torch.tensor(got), torch.tensor(wanted), rtol=1e-5, atol=1e-6)
    assert s == pytest.approx(plain[2], rel=1e-12)
    assert (big, order) == (2**40 + 1, plain[4])


def test_compiled_programs_are_kept_on_disk(tmp_path, credit):
    """JAX's own cache of compiled programs, as JAX_COMPILATION_CACHE_DIR names it: what comes from there computes the same."""
    names = "jax_compilation_cache_dir", "jax_persistent_cache_min_compile_time_secs", "jax_persistent_cache_min_entry_size_bytes"
    before = [getattr(jax.config, n) for n in names]
    execute.clear_caches()
    plain = _three_steps()
    compilation_cache.reset_cache()
    for n, v in zip(names, (str(tmp_path), 0, -1)):
        jax.config.update(n, v)
    try:
        for _ in range(2):
            execute.clear_caches()
            jax.clear_caches()
            kept = {p.name for p in tmp_path.iterdir() if p.name.endswith("-cache")}
            assert _three_steps() == plain
        assert kept
        assert {p.name for p in tmp_path.iterdir() if p.name.endswith("-cache")} == kept  # nothing was compiled the second time
    finally:
        for n, v in zip(names, before):
            jax.config.update(n, v)
        compilation_cache.reset_cache()
