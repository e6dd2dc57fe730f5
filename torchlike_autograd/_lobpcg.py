"""torch.lobpcg (layer 8): a few extreme eigenpairs of a symmetric matrix, by block preconditioned conjugate gradients.

After Knyazev (2001), "basic", and with the orthogonalization of Stathopoulos and Wu (2002), "ortho".  An iterate is S = [X P W]: the present vectors, the
directions of the last step and the residuals.
"""

from __future__ import annotations

import torchlike_autograd as torch

from ._linalg_utils import matmul as _times
from ._linalg_utils import qform as _form
from ._linalg_utils import symeig as _eigenpairs
from .overrides import handle_torch_function, has_torch_function

__all__ = ["lobpcg"]


class _Iteration:
    """One matrix: `X` and `E` hold the vectors and values after `run`."""

    def __init__(self, A, B, X, iK, k, options):
        self.A, self.B, self.iK, self.X, self.k, self.n = A, B, iK, X, k, X.shape[-1]
        self.__dict__.update(options)
        self.E = torch.zeros(self.n, dtype=X.dtype, device=X.device)
        length = float(torch.norm(X))
        self.size_A, self.size_B = float(torch.norm(_times(A, X))) / length, float(torch.norm(_times(B, X))) / length
        self.S, self.done = None, 0

    def run(self):
        """Step until k pairs have converged, `niter` times at most."""
        step = self._orthogonal if self.method == "ortho" else self._basic
        for _ in range(max(self.niter, 1)):
            step()
            if self.done >= self.k:
                break

    def _count(self):
        """The residuals, and how many of the first pairs have converged."""
        self.R = _times(self.A, self.X) - _times(self.B, self.X) * self.E
        scale = torch.norm(self.X, 2, (0,)) * (self.size_A + torch.abs(self.E) * self.size_B)
        converged = (torch.norm(self.R, 2, (0,)) / scale < self.tol).tolist()
        done = (*converged, False).index(False)
        if done < self.done:
            raise AssertionError(f"the number of converged eigenpairs (was {self.done}, got {done}) cannot decrease")
        self.done = done

    def _take(self, X, E):
        """New vectors and values for those that have not converged."""
        self.X = torch.cat((self.X[:, :self.done], X), 1)
        self.E = torch.cat((self.E[:self.done], E))

    def _ritz(self, S):
        """R with R^T S^T B S R = 1."""
        SBS = _form(self.B, S)
        row = SBS.diagonal(0, -2, -1) ** -0.5
        R = torch.linalg.cholesky(SBS * row * row[:, None], upper=True)
        return torch.linalg.solve_triangular(R, row.diag_embed(), upper=True, left=False)

    def _basic(self):
        n, first = self.n, self.S is None
        S = self.X if first else self.S[:, self.done:]
        Ri = self._ritz(S)
        E, Z = _eigenpairs(_form(_form(self.A, S), Ri), self.largest)
        left = n - self.done
        self._take(S @ (Ri @ Z[:, :left]), E[:left])
        directions = [] if first else [S @ (Ri @ Z[:, n:n + left])]
        self._count()
        self.S = torch.cat((self.X, *directions, _times(self.iK, self.R[:, self.done:])), 1)

    def _orthogonal(self):
        n = self.n
        if self.S is None:
            Ri = self._ritz(self.X)
            _, Z = _eigenpairs(_form(_form(self.A, self.X), Ri), self.largest)
            self.X, directions = self.X @ (Ri @ Z), []
        else:
            S, left = self.S[:, self.done:], n - self.done
            E, Z = _eigenpairs(_form(self.A, S), self.largest)
            self._take(S @ Z[:, :left], E[:left])
            directions = [S @ (Z[:, left:] @ torch.linalg.qr(Z[:left, left:].mT)[0])]
        self._count()
        known = torch.cat((self.X, *directions), 1)
        self.S = torch.cat((known, self._against(self.R if not directions else self.R[:, self.done:], known)), 1)

    def _scaled(self, U, drop, tau):
        """A basis of the range of U, orthonormal in B up to tau; drop: without the directions that U hardly has."""
        if not U.numel():
            return U
        UBU = _form(self.B, U)
        d = UBU.diagonal(0, -2, -1)
        kept = d != 0
        if not kept.all():
            U = U[:, kept]
            if not U.numel():
                return U
            UBU = _form(self.B, U)
            d = UBU.diagonal(0, -2, -1)
        row = d ** -0.5
        E, Z = _eigenpairs(UBU * row[:, None] * row)
        least = tau * abs(E).max()
        if drop:
            kept = least < E
            E, Z, row = E[kept], Z[:, kept], row[kept]
        else:
            E = torch.where(least > E, least, E)
        return (U * row) @ (Z * E ** -0.5)

    def _against(self, U, V):
        """U made orthonormal in B, and orthogonal to V."""
        size_V, VBU = torch.norm(_times(self.B, V)), V.mT @ _times(self.B, U)
        for _ in range(self.ortho_i_max):
            U, drop, tau = U - V @ VBU, False, self.ortho_tol_drop
            for _ in range(self.ortho_j_max):
                if self.ortho_use_drop:
                    U, drop, tau = self._scaled(U, drop, tau), True, self.ortho_tol_replace
                else:
                    U = self._scaled(U, False, self.ortho_tol_replace)
                if not U.numel():
                    return U
                BU = _times(self.B, U)
                UBU = U.mT @ BU
                off = torch.norm(UBU - torch.eye(UBU.shape[-1], dtype=UBU.dtype, device=UBU.device))
                if float(off) / float(torch.norm(BU) * torch.norm(U)) < self.ortho_tol:
                    break
            VBU = V.mT @ BU
            if float(torch.norm(VBU)) / float(size_V * torch.norm(U)) < self.ortho_tol:
                break
            if self.B is not None and self.B.shape[-1] < U.shape[-1] + V.shape[-1]:
                raise ValueError(f"Overdetermined shape of U: #B-cols(={self.B.shape[-1]}) >= #U-cols(={U.shape[-1]}) + "
                                 f"#V-cols(={V.shape[-1]}) must hold")
        return U


def _options(A, niter, tol, largest, method, more):
    if tol is None:
        tol = {torch.float32: 1.2e-07, torch.float64: 2.23e-16}[A.dtype if A.dtype.is_floating_point else torch.float32] ** 0.5
    chosen = {"niter": 1000 if niter is None else niter, "tol": tol, "largest": True if largest is None else largest,
              "method": "ortho" if method is None else method, "ortho_i_max": 3, "ortho_j_max": 3, "ortho_use_drop": False}
    for given in more:
        chosen.update(given or {})
    for name in ("ortho_tol", "ortho_tol_drop", "ortho_tol_replace"):
        chosen.setdefault(name, chosen["tol"])
    return chosen


def _solve(A, k, B, X, n, iK, options):
    if A.shape[-2] != A.shape[-1]:
        raise AssertionError(f"A must be square, got shape {A.shape}")
    if B is not None and A.shape != B.shape:
        raise AssertionError(f"A and B must have same shape, got {A.shape} vs {B.shape}")
    m = A.shape[-1]
    k = (1 if X is None else X.shape[-1]) if k is None else k
    n = (k if n is None else n) if X is None else X.shape[-1]
    if m < 3 * n:
        raise ValueError(f"LOBPCG algorithm is not applicable when the number of A rows (={m})"
                         f" is smaller than 3 x the number of requested eigenpairs (={n})")
    dtype = A.dtype if A.dtype.is_floating_point else torch.float32
    parts = [None if t is None else (t,) if t.ndim == 2 else t.reshape(-1, *t.shape[-2:]).unbind() for t in (A, B, X)]
    found = []
    for i in range(len(parts[0])):
        start = torch.randn((m, n), dtype=dtype, device=A.device) if X is None else parts[2][i]
        if start.shape != (m, n):
            raise AssertionError(f"X shape mismatch: got {start.shape}, expected {(m, n)}")
        work = _Iteration(parts[0][i], None if B is None else parts[1][i], start, iK, k, options)
        work.run()
        found.append((work.E[:k], work.X[:, :k]))
    if A.ndim == 2:
        return found[0]
    return torch.stack([e for e, _ in found]).reshape(*A.shape[:-2], k), torch.stack([x for _, x in found]).reshape(*A.shape[:-2], m, k)


def _pulled_back(D_grad, U_grad, A, D, U):
    """The gradient of A: among the eigenvectors that were found, and towards the rest, where (d - A) x = g is solved beside them."""
    one = torch.eye(D.shape[-1], dtype=D.dtype, device=D.device)
    F = (D.unsqueeze(-2) - D.unsqueeze(-1) + one).reciprocal() - one  # 0 on the diagonal, also in the gradient of this one
    within = U @ (torch.diag_embed(D_grad) + (U.mT @ U_grad) * F) @ U.mT
    if U.shape[-1] == U.shape[-2]:
        return within
    rest = U_grad - U @ (U.mT @ U_grad)
    apart = (D.amax(-1) - D.amin(-1) + 1)[..., None, None]  # moves the eigenvalues that were found away from one another
    shifted = D[..., None, None] * torch.eye(A.shape[-1], dtype=A.dtype, device=A.device) + (apart * (U @ U.mT) - A).unsqueeze(-3)
    return within + torch.linalg.solve(shifted, rest.mT.unsqueeze(-1)).squeeze(-1).mT @ U.mT


class LOBPCGAutogradFunction(torch.autograd.Function):
    """The solver as one step of a graph."""

    @staticmethod
    def forward(ctx, A, B, *rest):
        """(D, U)."""
        A, B = (t if t is None or t.is_sparse else t.contiguous() for t in (A, B))
        D, U = _solve(A, rest[0], B, *rest[1:])
        ctx.save_for_backward(A, B, D, U)
        return D, U

    @staticmethod
    def backward(ctx, D_grad, U_grad):
        """The gradient of a dense real A without B."""
        A, B, D, U = ctx.saved_tensors
        tail = "lobpcg.backward does not support {} yet. Note that lobpcg.forward does though."
        if A.is_sparse or (B is not None and B.is_sparse and ctx.needs_input_grad[1]):
            raise ValueError(tail.format("sparse input"))
        if A.is_complex() or (B is not None and B.is_complex()):
            raise ValueError(tail.format("complex input"))
        if B is not None:
            raise ValueError("lobpcg.backward does not support backward with B != I yet.")
        return (_pulled_back(D_grad, U_grad, A, D, U), *(None,) * 6)


def lobpcg(A, k=None, B=None, X=None, n=None, iK=None, niter=None, tol=None, largest=None, method=None, tracker=None, ortho_iparams=None,
           ortho_fparams=None, ortho_bparams=None):
    """The `k` largest (smallest) eigenvalues and vectors of A x = e B x for symmetric matrices.

    X: vectors to begin with, random ones without it; n: how many then; iK: a preconditioner; niter, tol: when to stop; method: "ortho" or "basic".
    """
    tensors = (A, B, X, iK)
    if not {*map(type, tensors)} <= {torch.Tensor, type(None)} and has_torch_function(tensors):
        return handle_torch_function(lobpcg, tensors, A, k=k, B=B, X=X, n=n, iK=iK, niter=niter, tol=tol, largest=largest, method=method, tracker=tracker,
                                     ortho_iparams=ortho_iparams, ortho_fparams=ortho_fparams, ortho_bparams=ortho_bparams)
    if tracker is not None:
        raise NotImplementedError("torch.lobpcg: tracker watches the inside of torch's implementation; there is none here")
    options = _options(A, niter, tol, largest, method, (ortho_iparams, ortho_fparams, ortho_bparams))
    if A.requires_grad or (B is not None and B.requires_grad):
        return LOBPCGAutogradFunction.apply((A + A.mT) / 2, None if B is None else (B + B.mT) / 2, k, X, n, iK, options)
    return _solve(A, k, B, X, n, iK, options)
