"""Classes of storages: made, read, written, and shown by tensors."""

from compat_matrix.cases.nn.script import script

script("rare_names.storages.classes", """
S = torch.FloatStorage
def quiet(f):
    with warnings.catch_warnings():
        warnings.simplefilter('ignore')
        return f()
N = ('Double', 'Float', 'Half', 'Long', 'Int', 'Short', 'Char', 'Byte', 'Bool', 'BFloat16', 'ComplexDouble', 'ComplexFloat')
look('cpu', lambda: quiet(lambda: [c.dtype for c in (torch.DoubleStorage, torch.FloatStorage, torch.HalfStorage, torch.LongStorage, torch.IntStorage, torch.ShortStorage, torch.CharStorage,
                                       torch.ByteStorage, torch.BoolStorage, torch.BFloat16Storage, torch.ComplexDoubleStorage, torch.ComplexFloatStorage)]))
look('cuda', lambda: quiet(lambda: [c.dtype for c in (torch.cuda.DoubleStorage, torch.cuda.FloatStorage, torch.cuda.HalfStorage, torch.cuda.LongStorage, torch.cuda.IntStorage, torch.cuda.ShortStorage,
                                        torch.cuda.CharStorage, torch.cuda.ByteStorage, torch.cuda.BoolStorage, torch.cuda.BFloat16Storage, torch.cuda.ComplexDoubleStorage, torch.cuda.ComplexFloatStorage)]))
look('cuda', lambda: quiet(lambda: torch.cuda.FloatStorage(2)))
look('kinds', lambda: quiet(lambda: (isinstance(S([1, 2]), S), isinstance(S([1, 2]), torch.DoubleStorage), isinstance(S([1]), torch.TypedStorage), issubclass(S, torch.TypedStorage), isinstance(S(1), torch.cuda.FloatStorage))))
look('names', lambda: quiet(lambda: (S.__name__, S.__module__, S.is_sparse, torch.Storage is S, type(S([1])).__name__, torch.ones(2).storage_type() is S)))
look('made', lambda: quiet(lambda: (S([1, 2]).tolist(), S((1, 2))[0], S(3).size(), len(S(3)), S().size(), repr(S([1, 2])), list(S([1, 2])))))
look('typed', lambda: quiet(lambda: (torch.TypedStorage([1, 2], dtype=torch.int64).tolist(), torch.TypedStorage(3, dtype=torch.int8).size(), torch.TypedStorage().dtype)))
look('wrapped', lambda: quiet(lambda: torch.TypedStorage(wrap_storage=torch.ones(2).untyped_storage(), dtype=torch.float32).tolist()))
look('untyped', lambda: quiet(lambda: (torch.UntypedStorage([1, 2, 255]).tolist(), torch.UntypedStorage(3).nbytes(), torch.UntypedStorage().nbytes(), torch.UntypedStorage([1, 2])[1])))
look('wrong', lambda: quiet(lambda: S([1, 2, 3])[1:]))
look('wrong', lambda: quiet(lambda: S([1, 2])[5]))
look('wrong', lambda: quiet(lambda: S('a')))
look('wrong', lambda: quiet(lambda: torch.UntypedStorage('a')))
look('asked', lambda: quiet(lambda: (torch.is_storage(S(1)), torch.is_storage(torch.UntypedStorage(1)), torch.is_storage(3), S([1, 2]) == S([1, 2]))))
look('words', lambda: quiet(lambda: (torch.ones(2, dtype=torch.int64).storage().type(), torch.ones(2).storage().pickle_storage_type(), torch.ones(2).storage().is_shared(), torch.ones(2).storage().is_pinned())))
""")

script("rare_names.storages.written", """
S = torch.FloatStorage
def quiet(f):
    with warnings.catch_warnings():
        warnings.simplefilter('ignore')
        return f()
x = torch.ones(2)
look('as', lambda: quiet(lambda: [s.dtype for s in (x.storage().double(), x.storage().long(), x.storage().bool(), x.storage().half(), x.storage().int(), x.storage().short(), x.storage().char(),
                                      x.storage().byte(), x.storage().bfloat16(), x.storage().complex_float(), x.storage().complex_double(), x.storage().float())]))
look('copies', lambda: quiet(lambda: (x.storage().double().tolist(), x.storage().clone().tolist(), x.storage().cpu().tolist(), x.storage().element_size(), x.storage().nbytes(), x.storage().is_cuda)))
y = torch.zeros(2, 2)
s = y.storage()
s[1] = 5
s[2:] = 7
look('item', lambda: quiet(lambda: (y, s.tolist())))
z = torch.zeros(2, 2)
z[1].storage().copy_(S([1, 2, 3, 4]))
look('copied', lambda: quiet(lambda: z))
look('filled', lambda: quiet(lambda: (torch.ones(2).storage().fill_(3).tolist(), z.storage().fill_(4) is not None, z)))
b = torch.zeros(2, dtype=torch.uint8)
b.untyped_storage()[1] = 5
look('byte', lambda: quiet(lambda: b))
t = S([1, 2, 3, 4])
p, q = torch.FloatTensor().set_(t), torch.FloatTensor().set_(t, 0, (2, 2))
p[0] = 9
look('shared', lambda: quiet(lambda: (p, q, t[0], p.data_ptr() == q.data_ptr())))
look('part', lambda: quiet(lambda: torch.FloatTensor().set_(t, 1, (2,), (2,))))
look('untyped', lambda: quiet(lambda: (torch.tensor([]).set_(torch.ones(3).untyped_storage()), torch.tensor([]).set_(torch.ones(3).untyped_storage(), 1, (2,)))))
look('wrong', lambda: quiet(lambda: torch.tensor([], dtype=torch.int32).set_(S([1, 2]))))
look('data', lambda: quiet(lambda: (torch.tensor(S([1, 2])), torch.FloatTensor(S([1, 2])))))
""")
