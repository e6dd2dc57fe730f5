"""A module behind scikit-learn's interface: fitted, asked, searched over."""

import numpy as np
import torch
from sklearn.model_selection import GridSearchCV
from skorch import NeuralNetClassifier
from skorch.callbacks import EpochScoring, LRScheduler


class Classifier(torch.nn.Module):
    def __init__(self, width=4):
        super().__init__()
        self.net = torch.nn.Sequential(torch.nn.Linear(4, width), torch.nn.ReLU(), torch.nn.Linear(width, 2), torch.nn.Softmax(-1))

    def forward(self, x):
        return self.net(x)


def program():
    x = np.random.RandomState(0).randn(40, 4).astype(np.float32)
    y = (x.sum(1) > 0).astype(np.int64)
    net = NeuralNetClassifier(Classifier, max_epochs=3, lr=0.1, iterator_train__shuffle=True, verbose=0,
                              callbacks=[EpochScoring("accuracy", lower_is_better=False), LRScheduler("StepLR", step_size=1)])
    net.fit(x, y)
    yield "history", [[round(row[name], 5) for name in ("train_loss", "valid_loss", "accuracy")] for row in net.history]
    yield "answers", net.predict_proba(x[:3]), net.score(x, y)
    torch.manual_seed(0)
    net = NeuralNetClassifier(Classifier, max_epochs=2, lr=0.1, verbose=0, train_split=None)
    search = GridSearchCV(net, {"module__width": [2, 4]}, cv=2, scoring="neg_log_loss")
    search.fit(x, y)
    yield "search", search.best_params_, [round(float(score), 5) for score in search.cv_results_["mean_test_score"]]
