"""The pages of the book, from executed notebooks and from text."""
