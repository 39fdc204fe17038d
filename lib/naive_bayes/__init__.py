"""Naive Bayes on mixed columns, and on the attributes that do best by cross-validation."""

from lib.naive_bayes.naive_bayes import NaiveBayes
from lib.naive_bayes.selective import SelectiveNaiveBayes

__all__ = ["NaiveBayes", "SelectiveNaiveBayes"]
