"""``out=`` of another dtype than the result: some operators cast, the others say what they want."""

from compat_matrix.case import attempt, case

CALLS = """abs(v) neg(v) sign(v) sgn(v) floor(v) ceil(v) trunc(v) round(v) frac(v) clamp(v,0,1) clamp_min(v,0) sqrt(v) exp(v) sin(v) reciprocal(v) bitwise_not(i) logical_not(v)
add(v,v) mul(v,v) div(v,v) pow(v,2) maximum(v,v) atan2(v,v) fmod(v,2) remainder(v,v) lerp(v,v,0.5) where(v>1,v,v) copysign(v,v) heaviside(v,v) nextafter(v,v) logaddexp(v,v)
xlogy(v,v) hypot(v,v) ldexp(v,i) floor_divide(v,v) true_divide(v,v) addcmul(v,v,v) addcdiv(v,v,v) sigmoid(v) tanh(v) erf(v) lgamma(v) digamma(v) nan_to_num(v) isposinf(v)
isneginf(v) signbit(v) angle(v) eq(v,v) gt(v,1) logical_and(v,v) bitwise_and(i,i) gcd(i,i) sum(v,0) prod(v,0) mean(v,0) amax(v,0) amin(v,0) argmax(v,0) argsort(v) std(v,0)
var(v,0) norm(v) logsumexp(v,0) all(v) any(v,0) cumsum(v,0) cumprod(v,0) logcumsumexp(v,0) quantile(v,0.5) nanquantile(v,0.5) nansum(v) count_nonzero(v) mm(m,m) bmm(m[None],m[None])
addmm(m,m,m) addmv(v,m,v) baddbmm(m[None],m[None],m[None]) addbmm(m,m[None],m[None]) addr(m,v,v) mv(m,v) dot(v,v) vdot(v,v) matmul(m,m) outer(v,v) inner(m,m) cross(v,v)
linalg.cross(v,v) linalg.vector_norm(v) linalg.inv(m) linalg.solve(m,v) linalg.solve_triangular(m,m,upper=True) linalg.det(m) linalg.cholesky(m) cholesky(m) linalg.householder_product(m,v)
ormqr(m,v,m) tril(m) triu(m) diag(v) gather(v,0,i) index_select(v,0,i) take(v,i) masked_select(v,v>1) scatter(v,0,i,v) scatter(v,0,i,1.0) scatter_add(v,0,i,v) index_add(v,0,i,v)
index_copy(v,0,i,v) scatter_reduce(v,0,i,v,'sum') index_reduce(v,0,i,v,'prod') cat([v,v]) stack([v,v]) hstack([v,v]) msort(v) renorm(m,2,0,1.0) searchsorted(v,v) bucketize(v,v)
isin(v,v) view_copy(v,(3,1)) t_copy(m) expand_copy(v,(2,3)) diagonal_copy(m) unsqueeze_copy(v,0) complex(v,v) polar(v,v) kron(v,v) trapezoid(v) diff(v) bernoulli(v/9) multinomial(v,1)
nn.functional.gelu(v) nn.functional.softplus(v) nn.functional.logsigmoid(v) nn.functional.avg_pool2d(m[None],2) hardshrink(v) softmax(v,0) log_softmax(v,0) special.bessel_j0(v)
arange(3) linspace(0,1,3) zeros(3) full((3,),1.0) eye(3) sort(v) max(m,0) topk(v,1) kthvalue(v,1) median(m,0) cummax(v,0) aminmax(v) frexp(v) linalg.qr(m) hash_tensor(v)""".split()


def outcome(torch, text, dtypes):
    v, m, i = torch.tensor([1.0, 2.0, 3.0]), torch.tensor([[2.0, 1.0, 0.5], [1.0, 3.0, 0.2], [0.5, 0.2, 4.0]]), torch.tensor([0, 2, 1])
    scope = {"torch": torch, "v": v, "m": m, "i": i, **{n: getattr(torch, n) for n in dir(torch) if not n.startswith("__")}}
    plain = eval(text, scope)
    many = isinstance(plain, tuple)
    out = tuple(torch.empty(0, dtype=d) for d, _ in zip(dtypes, plain)) if many else torch.empty(0, dtype=dtypes[0])
    found = attempt(lambda: eval(f"{text[:-1]}, out=out)", {**scope, "out": out}))
    return [str(o.dtype) for o in found] if isinstance(found, tuple) else str(found.dtype) if isinstance(found, torch.Tensor) else found


for _text in CALLS:
    @case(f"out_dtypes.{_text}", text=_text)
    def _(torch, text):
        for name in ("float64", "float16", "int64", "int32", "complex64", "bool", "uint8"):
            d = getattr(torch, name)
            yield name, outcome(torch, text, (d, d, d))
