"""Latent-class (CIA) models: by EM, by covariances, with chosen numbers of classes, by Gibbs."""

from lib.latent_class.covariance import LatentClassCovariance
from lib.latent_class.em import LatentClassEM
from lib.latent_class.gibbs import LatentClassGibbs
from lib.latent_class.selection import LatentClassSelection

__all__ = ["LatentClassCovariance", "LatentClassEM", "LatentClassGibbs", "LatentClassSelection"]
