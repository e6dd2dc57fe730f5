"""torch.utils.data: data sets, samplers, loaders, collation."""

from compat_matrix.cases.nn.script import script

START = """
import importlib
D = importlib.import_module(torch.__name__ + '.utils.data')
D = torch.utils.data
class Numbers(D.Dataset):
    def __init__(self, n):
        self.n = n
    def __len__(self):
        return self.n
    def __getitem__(self, i):
        if not 0 <= i < self.n:
            raise IndexError(i)
        return i * 10
class Stream(D.IterableDataset):
    def __init__(self, n):
        self.n = n
    def __iter__(self):
        return iter(range(self.n))
def seed():
    return torch.Generator().manual_seed(3)
"""

script("data.sets", START + """
T = D.TensorDataset(torch.arange(6).reshape(3, 2), torch.tensor([1., 2., 3.]))
look('TensorDataset', lambda: (len(T), T[1], T[0:2], len(T.tensors)))
look('sizes', lambda: D.TensorDataset(torch.ones(2), torch.ones(3)))
C = D.ConcatDataset([Numbers(2), Numbers(3)])
look('ConcatDataset', lambda: (len(C), [C[i] for i in range(5)], C[-1], C.cumulative_sizes))
look('beyond', lambda: C[-6])
look('none', lambda: D.ConcatDataset([]))
look('sum', lambda: [len(Numbers(2) + Numbers(1)), type(Numbers(2) + Numbers(1)).__name__])
look('streams', lambda: D.ConcatDataset([Stream(2)]))
look('ChainDataset', lambda: (list(D.ChainDataset([Stream(2), Stream(3)])), list(Stream(1) + Stream(2))))
look('ChainDataset of others', lambda: list(D.ChainDataset([Numbers(2)])))
look('no length', lambda: len(D.ChainDataset([Stream(2)])))
S = D.Subset(Numbers(5), [3, 1])
look('Subset', lambda: (len(S), S[0], S[[0, 1]], S.indices))
class Doubled(D.Subset):
    def __getitem__(self, i):
        return 2 * super().__getitem__(i)
look('Subset that loaders would not ask', lambda: Doubled(Numbers(5), [1]))
look('StackDataset', lambda: (D.StackDataset(Numbers(2), Numbers(2))[1], D.StackDataset(a=Numbers(2), b=Numbers(2))[0], len(D.StackDataset(Numbers(2)))))
look('StackDataset sizes', lambda: D.StackDataset(Numbers(2), Numbers(3)))
look('StackDataset of none', lambda: D.StackDataset())
look('random_split', lambda: [s.indices for s in D.random_split(Numbers(6), [4, 2], generator=seed())])
look('shares', lambda: [s.indices for s in D.random_split(Numbers(7), [0.5, 0.5], generator=seed())])
look('wrong split', lambda: D.random_split(Numbers(6), [4, 1]))
look('wrong shares', lambda: D.random_split(Numbers(6), [0.5, 0.6]))
look('abstract', lambda: D.Dataset()[0])
look('worker', lambda: D.get_worker_info())
""")

script("data.samplers", START + """
look('SequentialSampler', lambda: (list(D.SequentialSampler(Numbers(3))), len(D.SequentialSampler(Numbers(3)))))
look('RandomSampler', lambda: (list(D.RandomSampler(Numbers(5), generator=seed())), list(D.RandomSampler(Numbers(3), replacement=True, num_samples=7, generator=seed()))))
look('more', lambda: (list(D.RandomSampler(Numbers(3), num_samples=7, generator=seed())), len(D.RandomSampler(Numbers(3), num_samples=7))))
look('num_samples', lambda: D.RandomSampler(Numbers(3), num_samples=-1))
look('replacement', lambda: D.RandomSampler(Numbers(3), replacement=3))
look('SubsetRandomSampler', lambda: (list(D.SubsetRandomSampler([4, 7, 9], generator=seed())), len(D.SubsetRandomSampler([4, 7]))))
look('WeightedRandomSampler', lambda: (list(D.WeightedRandomSampler([0.1, 0.9, 0.0], 6, generator=seed())), list(D.WeightedRandomSampler([0.1, 0.9, 0.4], 3, False, generator=seed()))))
look('weights', lambda: D.WeightedRandomSampler(torch.ones(2, 2), 3))
look('weights', lambda: D.WeightedRandomSampler([1.0], 0))
look('weights', lambda: D.WeightedRandomSampler([1.0], 2, replacement=3))
look('BatchSampler', lambda: (list(D.BatchSampler(D.SequentialSampler(range(5)), 2, False)), list(D.BatchSampler(range(5), 2, True)), len(D.BatchSampler(range(5), 2, True)), len(D.BatchSampler(range(5), 2, False))))
look('batch size', lambda: D.BatchSampler(range(5), 0, False))
look('drop last', lambda: D.BatchSampler(range(5), 2, 3))
look('Sampler', lambda: list(D.Sampler()))
look('DistributedSampler', lambda: [list(D.DistributedSampler(Numbers(7), num_replicas=3, rank=r, shuffle=False)) for r in range(3)])
look('drop', lambda: [list(D.DistributedSampler(Numbers(7), num_replicas=3, rank=r, shuffle=False, drop_last=True)) for r in range(3)])
look('shuffled', lambda: [list(torch.utils.data.distributed.DistributedSampler(Numbers(7), num_replicas=2, rank=r, seed=5)) for r in range(2)])
d = D.DistributedSampler(Numbers(4), num_replicas=2, rank=0)
look('epochs', lambda: (len(d), list(d), d.set_epoch(1), list(d)))
look('rank', lambda: D.DistributedSampler(Numbers(4), num_replicas=2, rank=2))
""")

script("data.loader", START + """
look('plain', lambda: list(D.DataLoader(Numbers(5), batch_size=2)))
look('last dropped', lambda: (list(D.DataLoader(Numbers(5), batch_size=2, drop_last=True)), len(D.DataLoader(Numbers(5), batch_size=2, drop_last=True)), len(D.DataLoader(Numbers(5), 2))))
look('shuffled', lambda: list(D.DataLoader(Numbers(6), batch_size=4, shuffle=True, generator=seed())))
look('default seed', lambda: (torch.manual_seed(1), list(D.DataLoader(Numbers(6), batch_size=4, shuffle=True)))[1])
look('no batches', lambda: list(D.DataLoader(Numbers(3), batch_size=None)))
look('stream', lambda: list(D.DataLoader(Stream(5), batch_size=2)))
look('sampler', lambda: list(D.DataLoader(Numbers(5), sampler=[4, 0, 2], batch_size=2)))
look('batch sampler', lambda: list(D.DataLoader(Numbers(5), batch_sampler=[[4, 0], [2]])))
look('collate', lambda: list(D.DataLoader(Numbers(4), batch_size=2, collate_fn=lambda b: sum(b))))
x = D.TensorDataset(torch.arange(6.).reshape(3, 2), torch.tensor([1, 2, 3]))
look('tensors', lambda: [[t for t in b] for b in D.DataLoader(x, batch_size=2)])
look('shuffle of a stream', lambda: D.DataLoader(Stream(2), shuffle=True))
look('sampler of a stream', lambda: D.DataLoader(Stream(2), sampler=[1]))
look('both', lambda: D.DataLoader(Numbers(2), sampler=[1], shuffle=True))
look('batch sampler and more', lambda: D.DataLoader(Numbers(2), batch_sampler=[[1]], batch_size=2))
look('no batch, drop', lambda: D.DataLoader(Numbers(2), batch_size=None, drop_last=True))
look('workers', lambda: D.DataLoader(Numbers(2), num_workers=-1))
look('timeout', lambda: D.DataLoader(Numbers(2), timeout=-1))
look('prefetch', lambda: D.DataLoader(Numbers(2), prefetch_factor=2))
look('persistent', lambda: D.DataLoader(Numbers(2), persistent_workers=True))
l = D.DataLoader(Numbers(2))
look('set later', lambda: setattr(l, 'batch_size', 3))
look('asked', lambda: (l.batch_size, l.num_workers, l.multiprocessing_context, l.check_worker_number_rationality(), l.drop_last, l.pin_memory, l.timeout, type(l.sampler).__name__, type(l.batch_sampler).__name__))
look('context', lambda: setattr(l, 'multiprocessing_context', 'spawn'))
look('empty', lambda: list(D.DataLoader(Numbers(0))))
look('random of none', lambda: D.DataLoader(Numbers(0), shuffle=True))
it = iter(l)
look('iterated', lambda: (next(it), next(it)))
look('over', lambda: next(it, 'over'))
""")

script("data.collate", START + """
from typing import NamedTuple
class P(NamedTuple):
    a: object
    b: object
c, v = D.default_collate, D.default_convert
look('tensors', lambda: c([torch.ones(2), torch.zeros(2)]))
look('numbers', lambda: (c([1, 2]), c([1.5, 2.5]), c([True, False]), c(['a', 'b']), c([b'a', b'b'])))
look('nested', lambda: c([{'a': 1, 'b': (2.0, torch.ones(1))}, {'a': 3, 'b': (4.0, torch.zeros(1))}]))
look('named', lambda: (t := c([P(1, 2), P(3, 4)]), type(t).__name__)[0]._asdict())
import numpy as np
look('arrays', lambda: (c([np.ones(2), np.zeros(2)]), c([np.float32(1), np.float32(2)]), c([np.array(1), np.array(2)])))
look('sizes', lambda: c([torch.ones(2), torch.ones(3)]))
look('lengths', lambda: c([[1, 2], [3]]))
look('objects', lambda: c([object()]))
look('strings', lambda: c([np.array(['a'])]))
look('convert', lambda: (v(np.ones(2)), v(3), v('a'), v([1, np.zeros(1)]), v({'a': np.float64(2.0)}), v((1, torch.ones(1)))))
look('convert named', lambda: v(P(np.ones(1), 2))._asdict())
""")
