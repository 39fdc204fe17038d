"""What all rooms stand on: checks of arguments, arrays, estimators, compilation, files, source."""
