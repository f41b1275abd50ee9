import { exponentialBounds } from '../../../../shared/metrics/buckets';
import { LabelledDurations } from '../../../../shared/metrics/labelled-series';

/** Limits the cardinality, because definitions are created and deleted. */
const SERIES_MAX = 1_000;

/** Durations of conversion webhook reviews of this process, by the labels and in the buckets of kube-apiserver's metric. */
export const CONVERSION_TIMES = new LabelledDurations(exponentialBounds(0.001, 2, 15), SERIES_MAX);
