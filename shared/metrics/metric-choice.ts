/** Which metrics are shown, and which values of their labels. */
export interface MetricChoice {
  readonly disabled: ReadonlySet<string>;
  /** Also those that were deprecated one release ago. */
  readonly showHidden: boolean;
  /** By metric and label: the values that are shown; others are shown as `unexpected`. */
  readonly allowed: AllowedLabels;
}

/** Values by metric and label. */
export type AllowedLabels = ReadonlyMap<string, ReadonlyMap<string, ReadonlySet<string>>>;

export const ALL_METRICS: MetricChoice = { disabled: new Set(), showHidden: false, allowed: new Map() };

/** The release of these metrics. */
export const METRICS_RELEASE = { major: 1, minor: 21 } as const;

const GROUP = 'Metrics';
const PREVIOUS = `${String(METRICS_RELEASE.major)}.${String(METRICS_RELEASE.minor - 1)}`;

/** The flags of all programs that serve metrics. */
export const METRIC_FLAGS = [
  {
    name: 'show-hidden-metrics-for-version',
    type: 'string',
    default: '',
    group: GROUP,
    help: `Shows metrics that were deprecated in the previous minor version and are hidden in this one. Only ${PREVIOUS} is allowed, because the next version removes them.`,
  },
  {
    name: 'disabled-metrics',
    type: 'stringList',
    default: [],
    group: GROUP,
    help: 'Metrics to disable, by their full names; takes precedence over --show-hidden-metrics-for-version.',
  },
  {
    name: 'allow-metric-labels',
    type: 'stringList',
    default: [],
    group: GROUP,
    help: 'The allowed values of a label, as <metric>,<label>=<value>,<value>,...; may be repeated. Other values of this label are shown as "unexpected".',
  },
] as const;

/** The values of these flags. */
export interface MetricFlags {
  readonly showHiddenMetricsForVersion: string;
  readonly disabledMetrics: readonly string[];
  readonly allowMetricLabels: readonly string[];
}

/** Returns the problems of the flags, one sentence each. */
export function metricProblems({
  showHiddenMetricsForVersion: version,
  allowMetricLabels,
}: MetricFlags): readonly string[] {
  return [
    ...(version === '' || version === PREVIOUS
      ? []
      : [`--show-hidden-metrics-for-version must be ${PREVIOUS} or empty, not "${version}"`]),
    ...(allowedLabels(allowMetricLabels) === undefined
      ? [
          `--allow-metric-labels must be like <metric>,<label>=<value>,<value>, not "${allowMetricLabels.join(',')}"`,
        ]
      : []),
  ];
}

/** Returns the choice of valid flags. */
export function metricChoice(flags: MetricFlags): MetricChoice {
  return {
    disabled: new Set(flags.disabledMetrics),
    showHidden: flags.showHiddenMetricsForVersion !== '',
    allowed: allowedLabels(flags.allowMetricLabels) ?? new Map(),
  };
}

const METRIC_NAME = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/;
const LABEL_AND_VALUE = /^([a-zA-Z_][a-zA-Z0-9_]*)=(.*)$/;

/**
 * Puts together what the commas cut apart: a word that is followed by `label=value` is the name of a metric, and what follows that are
 * more values. Undefined for anything else.
 */
function allowedLabels(given: readonly string[]): AllowedLabels | undefined {
  const words = given.map((word) => word.replaceAll(/^["']+|["']+$/g, '')).filter((word) => word !== '');
  const allowed = new Map<string, Map<string, Set<string>>>();
  let values: Set<string> | undefined;
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at] ?? '';
    const [, label, value = ''] = LABEL_AND_VALUE.exec(words[at + 1] ?? '') ?? [];
    if (label === undefined) {
      if (values === undefined) return undefined;
      values.add(word);
      continue;
    }
    if (!METRIC_NAME.test(word)) return undefined;
    values = new Set([value.replaceAll(/^["']+/g, '')]);
    const labels = allowed.get(word) ?? new Map<string, Set<string>>();
    allowed.set(word, labels.set(label, values));
    at += 1;
  }
  return allowed;
}
