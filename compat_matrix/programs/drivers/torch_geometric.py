"""Layers over graphs, batches of graphs, pooling, transforms and utilities."""

import torch
import torch.nn.functional as F
import torch_geometric.nn as gnn
import torch_geometric.transforms as T
import torch_geometric.utils as U
from torch_geometric.data import Data
from torch_geometric.loader import DataLoader

EDGES = torch.tensor([[0, 1, 1, 2, 3, 4, 5, 0], [1, 0, 2, 1, 4, 3, 0, 5]])
LAYERS = {
    "GCN": lambda: gnn.GCNConv(4, 3), "SAGE": lambda: gnn.SAGEConv(4, 3), "GAT": lambda: gnn.GATConv(4, 3, heads=2),
    "GATv2": lambda: gnn.GATv2Conv(4, 3, heads=2),
    "GIN": lambda: gnn.GINConv(torch.nn.Linear(4, 3)), "Cheb": lambda: gnn.ChebConv(4, 3, K=2), "SG": lambda: gnn.SGConv(4, 3, K=2),
    "Transformer": lambda: gnn.TransformerConv(4, 3, heads=2), "Edge": lambda: gnn.EdgeConv(torch.nn.Linear(8, 3)), "ARMA": lambda: gnn.ARMAConv(4, 3),
    "gated": lambda: gnn.GatedGraphConv(4, 2), "PNA": lambda: gnn.PNAConv(4, 3, ["mean", "max", "std"], ["identity"], deg=torch.tensor([0, 4, 2])),
}


def program():
    torch.set_default_dtype(torch.float64)
    x, groups = torch.randn(6, 4), torch.tensor([0, 0, 0, 1, 1, 1])
    for name, make in LAYERS.items():
        torch.manual_seed(0)
        layer = make()
        out = layer(x, EDGES)
        out.pow(2).sum().backward()
        yield name, out, [p.grad for p in layer.parameters()]
    graphs = [Data(x=torch.randn(4, 3), edge_index=torch.tensor([[0, 1, 2], [1, 2, 3]]), y=torch.tensor([i % 2])) for i in range(6)]
    layer, head = gnn.GCNConv(3, 4), torch.nn.Linear(4, 2)
    optimizer, losses = torch.optim.Adam([*layer.parameters(), *head.parameters()], 0.01), []
    for batch in DataLoader(graphs, batch_size=3, shuffle=True):
        loss = F.cross_entropy(head(gnn.global_mean_pool(layer(batch.x, batch.edge_index).relu(), batch.batch)), batch.y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    yield "training", losses, str(batch)
    yield "pooling", gnn.global_max_pool(x, groups), gnn.TopKPooling(4)(x, EDGES)[0], gnn.GraphNorm(4)(x)
    yield "utilities", U.add_self_loops(EDGES)[0], U.degree(EDGES[0]), U.to_dense_adj(EDGES), U.softmax(x[:, 0], groups), U.k_hop_subgraph(0, 1, EDGES)[0]
    yield "transforms", str(T.Compose([T.ToUndirected(), T.NormalizeFeatures(), T.AddSelfLoops()])(Data(x=x, edge_index=EDGES)))
