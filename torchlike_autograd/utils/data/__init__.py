"""torch.utils.data (layer 8): datasets, samplers, loaders."""

from ..._core import publish as _publish
from . import dataloader, datapipes, dataset, distributed, graph_settings, sampler  # noqa: F401
from .dataloader import DataLoader, _DatasetKind, default_collate, default_convert, get_worker_info
from .datapipes.datapipe import DataChunk, IterDataPipe, MapDataPipe, functional_datapipe
from .dataset import ChainDataset, ConcatDataset, Dataset, IterableDataset, StackDataset, Subset, TensorDataset, random_split
from .distributed import DistributedSampler
from .sampler import BatchSampler, RandomSampler, Sampler, SequentialSampler, SubsetRandomSampler, WeightedRandomSampler

__all__ = ["BatchSampler", "ChainDataset", "ConcatDataset", "DataChunk", "DataLoader", "Dataset", "DistributedSampler", "IterDataPipe", "IterableDataset",
           "MapDataPipe", "RandomSampler", "Sampler", "SequentialSampler", "StackDataset", "Subset", "SubsetRandomSampler", "TensorDataset",
           "WeightedRandomSampler", "_DatasetKind", "default_collate", "default_convert", "functional_datapipe", "get_worker_info", "random_split"]
__getattr__ = _publish.missing("torch.utils.data")
