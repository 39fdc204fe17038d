"""Models, learners and experiments of *When the Model Is Wrong*."""
