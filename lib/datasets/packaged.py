"""Data sets that come with scikit-learn, as UCI has them."""

import pandas as pd
from sklearn.datasets import load_breast_cancer, load_digits, load_wine

LOADERS = {"wine": load_wine, "wdbc": load_breast_cancer, "digits": load_digits}


def read(name):
    """Attributes and target of one of `LOADERS`; the classes have the names that it gives them."""
    bunch = LOADERS[name]()
    columns = [str(column).replace(" ", "_") for column in bunch.feature_names]
    X = pd.DataFrame(bunch.data.astype(float), columns=columns)
    y = bunch.target_names.astype(str)[bunch.target]
    return X, y
