"""``python -m lib.book`` does what the command ``book`` does."""

from lib.book import main

main()
