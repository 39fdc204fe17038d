"""Classifiers that fit a latent-class (CIA) model: by EM, by covariances, and with the number of classes chosen."""

from lib.latent_class.covariance import LatentClassCovariance
from lib.latent_class.em import LatentClassEM
from lib.latent_class.selection import LatentClassSelection

__all__ = ["LatentClassCovariance", "LatentClassEM", "LatentClassSelection"]
