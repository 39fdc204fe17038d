"""Normalised performance, paired comparisons, intervals, tests and ranks."""

from lib.evaluation.crossing import crossing_ratio, crossing_size
from lib.evaluation.intervals import (
    Estimate,
    for_picking,
    largest_of,
    largest_size_of,
    mean_contrast,
    mean_interval,
    mean_ratio,
    median_interval,
    proportion_interval,
    skewed_mean,
    smallest_mean,
    smallest_of,
    widen_to_rows,
)
from lib.evaluation.over_sets import OverSets, mean_over_sets, paired_row_error
from lib.evaluation.performance import (
    largest_mean_t,
    mean_difference,
    normalized_performance,
    paired_differences,
    share_of_gain,
    t_by_model,
)
from lib.evaluation.ranks import RankComparison, compare_ranks, nemenyi_difference
from lib.evaluation.significance import (
    corrected_interval,
    corrected_t_test,
    differences_by_dataset,
    holm,
    one_sided_p_values,
    paired_t_test,
)
