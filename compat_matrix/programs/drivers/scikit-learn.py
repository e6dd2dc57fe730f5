"""scikit-learn's array API: estimators are fitted to tensors and answer with tensors."""

import os

os.environ["SCIPY_ARRAY_API"] = "1"

import sklearn
import torch
from sklearn import metrics, preprocessing
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import Ridge
from sklearn.metrics import pairwise
from sklearn.mixture import GaussianMixture
from sklearn.utils._array_api import get_namespace


def program():
    torch.set_default_dtype(torch.float64)
    x = torch.randn(20, 4)
    kind = (x[:, 0] + 0.3 * torch.randn(20) > 0).to(torch.int64)
    y = x @ torch.tensor([1.0, -2.0, 0.5, 0.0]) + 0.1 * torch.randn(20)
    with sklearn.config_context(array_api_dispatch=True):
        yield "namespace", get_namespace(x)[1], get_namespace(x)[0].__name__.rpartition(".")[2]
        main = PCA(2, svd_solver="full").fit(x)
        yield "components", main.components_.abs(), main.explained_variance_, main.transform(x).abs(), main.inverse_transform(main.transform(x))
        ridge = Ridge(alpha=0.5, solver="svd").fit(x, y)
        yield "ridge", ridge.coef_, ridge.intercept_, ridge.predict(x[:3]), float(ridge.score(x, y))
        parted = LinearDiscriminantAnalysis(solver="svd").fit(x, kind)
        yield "discriminant", parted.predict(x), parted.predict_proba(x[:3])
        means = torch.stack((x[kind == 0].mean(0), x[kind == 1].mean(0)))
        mixed = GaussianMixture(2, init_params="random_from_data", random_state=0, max_iter=5, means_init=means,
                                weights_init=torch.tensor([0.5, 0.5]), precisions_init=torch.eye(4).expand(2, 4, 4).clone())
        yield "mixture", mixed.fit(x).means_, mixed.predict(x)
        yield "scaled", preprocessing.StandardScaler().fit_transform(x), preprocessing.MinMaxScaler().fit_transform(x), preprocessing.normalize(x[:2])
        yield "polynomials", preprocessing.PolynomialFeatures(2).fit_transform(x[:3])
        said, guess = ridge.predict(x), parted.predict(x)
        yield "losses", float(metrics.mean_squared_error(y, said)), float(metrics.r2_score(y, said)), float(metrics.log_loss(kind, parted.predict_proba(x)))
        yield "classes", float(metrics.accuracy_score(kind, guess)), metrics.confusion_matrix(kind, guess), float(metrics.f1_score(kind, guess))
        yield "pairs", pairwise.euclidean_distances(x[:3], x[3:6]), pairwise.rbf_kernel(x[:3]), pairwise.cosine_similarity(x[:3])
