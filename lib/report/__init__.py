"""What a chapter says: sentences, figures and tables, displayed with their numbers as JSON.

Each function displays what it says as Markdown or as an image, which every Jupyter front end shows,
and puts its numbers into the metadata of the output. Pages and tests read these, never the text.
"""

from lib.report.display import figure, table, text
from lib.report.numbers import decimals_for, interval_words, listing, number_words, singular
from lib.report.phrases import Phrase, comparison, finding, interval
