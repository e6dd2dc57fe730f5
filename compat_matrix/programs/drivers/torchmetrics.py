"""Metrics of classification, regression and images, updated in pieces."""

import torch
import torchmetrics


def program():
    torch.set_default_dtype(torch.float64)
    scores, target = torch.rand(20, 4).softmax(1), torch.randint(4, (20,))
    for name in ("Accuracy", "F1Score", "AUROC", "ConfusionMatrix", "AveragePrecision", "CohenKappa", "MatthewsCorrCoef"):
        metric = getattr(torchmetrics, name)(task="multiclass", num_classes=4)
        metric.update(scores[:10], target[:10])
        metric.update(scores[10:], target[10:])
        yield name, metric.compute().float()
    a, b = torch.randn(20), torch.randn(20)
    for name in ("MeanSquaredError", "R2Score", "PearsonCorrCoef", "SpearmanCorrCoef", "MeanAbsoluteError", "ExplainedVariance", "KendallRankCorrCoef"):
        yield name, getattr(torchmetrics, name)()(a, b).float()
    group = torchmetrics.MetricCollection([torchmetrics.MeanSquaredError(), torchmetrics.MeanAbsoluteError()])
    group.update(a, b)
    yield "collection", {k: v.float() for k, v in group.compute().items()}
