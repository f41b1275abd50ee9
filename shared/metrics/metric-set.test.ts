import { exponentialBounds, ValueHistogram } from './buckets';
import { DurationHistogram } from './duration-histogram';
import type { MetricFlags } from './metric-choice';
import { metricChoice, metricProblems } from './metric-choice';
import type { MetricSetOptions } from './metric-set';
import { MetricSet } from './metric-set';

const NO_FLAGS: MetricFlags = { showHiddenMetricsForVersion: '', disabledMetrics: [], allowMetricLabels: [] };
const NAMES = new Map([
  ['old', { level: 'ALPHA', deprecated: '1.20' }],
  ['ending', { level: 'ALPHA', deprecated: '1.21' }],
  ['later', { level: 'STABLE', deprecated: '1.22' }],
  ['requests', { level: 'STABLE' }],
  ['seconds', { level: 'ALPHA' }],
] as const);

function newSet(flags: Partial<MetricFlags> = {}, options: MetricSetOptions = {}): MetricSet {
  return new MetricSet({ stability: NAMES, choice: metricChoice({ ...NO_FLAGS, ...flags }), ...options });
}

async function linesOf(metrics: MetricSet): Promise<readonly string[]> {
  return String(await metrics.exposition()).split('\n');
}

test('a metric carries its class of stability, and what is deprecated says since when', async () => {
  const metrics = newSet();
  for (const name of ['requests', 'ending', 'later'])
    metrics.gauge({ name, help: 'What it is.', read: () => [[{}, 1]] });
  const lines = await linesOf(metrics);
  expect(lines).toContain('# HELP requests [STABLE] What it is.');
  expect(lines).toContain('# HELP ending [ALPHA] (Deprecated since 1.21) What it is.');
  expect(lines).toContain('# HELP later [STABLE] What it is.');
  expect(lines).toContain('# TYPE requests gauge');
});

test('a metric deprecated a release ago is hidden unless requested', async () => {
  const shown = async (flags: Partial<MetricFlags>): Promise<boolean> => {
    const metrics = newSet(flags);
    metrics.counter({ name: 'old', help: '.', read: () => [[{}, 1]] });
    return (await linesOf(metrics)).includes('old 1');
  };
  expect(await shown({})).toBe(false);
  expect(await shown({ showHiddenMetricsForVersion: '1.20' })).toBe(true);
  expect(await shown({ showHiddenMetricsForVersion: '1.20', disabledMetrics: ['old'] })).toBe(false);
  expect(metricProblems({ ...NO_FLAGS, showHiddenMetricsForVersion: '1.19' })).toEqual([
    '--show-hidden-metrics-for-version must be 1.20 or empty, not "1.19"',
  ]);
});

test('label values that are not allowed are counted together', async () => {
  const metrics = newSet({ allowMetricLabels: ['requests', 'verb=GET', 'LIST', 'seconds', "verb='GET'"] });
  metrics.counter({
    name: 'requests',
    help: '.',
    labels: ['verb', 'code'],
    read: () => [
      [{ verb: 'GET', code: '1' }, 1],
      [{ verb: 'PUT', code: '1' }, 2],
      [{ verb: 'POST', code: '1' }, 3],
      [{ verb: 'LIST', code: '1' }, 4],
    ],
  });
  const [get, put, post] = [1, 2, 3].map((seconds) => {
    const took = new DurationHistogram([1, 2]);
    took.observe(seconds * 1_000);
    return took;
  });
  metrics.histogram({
    name: 'seconds',
    help: '.',
    labels: ['verb'],
    read: () =>
      Object.entries({ GET: get, PUT: put, POST: post }).flatMap(([verb, took]) =>
        took === undefined ? [] : [[{ verb }, took]],
      ),
  });
  expect((await linesOf(metrics)).filter((line) => !line.startsWith('#'))).toEqual([
    'requests{verb="GET",code="1"} 1',
    'requests{verb="unexpected",code="1"} 5',
    'requests{verb="LIST",code="1"} 4',
    'seconds_bucket{verb="GET",le="1"} 1',
    'seconds_bucket{verb="GET",le="2"} 1',
    'seconds_bucket{verb="GET",le="+Inf"} 1',
    'seconds_sum{verb="GET"} 1',
    'seconds_count{verb="GET"} 1',
    'seconds_bucket{verb="unexpected",le="1"} 0',
    'seconds_bucket{verb="unexpected",le="2"} 1',
    'seconds_bucket{verb="unexpected",le="+Inf"} 2',
    'seconds_sum{verb="unexpected"} 5',
    'seconds_count{verb="unexpected"} 2',
    '',
  ]);
});

test.each([
  ['no value', ['requests', 'verb']],
  ['no metric', ['verb=GET']],
  ['a metric that can have no such name', ['re-quests', 'verb=GET']],
  ['a label that can have no such name', ['requests', 've-rb=GET']],
])('a list of allowed labels with %s is refused', (_what, allowMetricLabels) => {
  expect(metricProblems({ ...NO_FLAGS, allowMetricLabels })).toHaveLength(1);
});

test('bounds are written as Go writes them, and so are values', async () => {
  const metrics = newSet();
  const sizes = new ValueHistogram(exponentialBounds(1_000, 10, 7));
  sizes.observe(5_000_000_000);
  metrics.histogram({ name: 'seconds', help: '.', read: () => [[{}, sizes]] });
  const read = (): [{ a: string }, number][] =>
    [0, 0.5, 123_456_789_012, -1, Infinity, NaN, 0.000_025].map((value) => [{ a: String(value) }, value]);
  metrics.gauge({ name: 'requests', help: '.', labels: ['a'], read });
  const lines = await linesOf(metrics);
  expect(lines.filter((line) => line.startsWith('seconds')).join('\n')).toBe(
    [
      ...['1000', '10000', '100000', '1e+06', '1e+07', '1e+08', '1e+09'].map(
        (bound) => `seconds_bucket{le="${bound}"} 0`,
      ),
      'seconds_bucket{le="+Inf"} 1',
      'seconds_sum 5000000000',
      'seconds_count 1',
    ].join('\n'),
  );
  expect(lines.filter((line) => line.startsWith('requests')).map((line) => line.split(' ')[1])).toEqual([
    '0',
    '0.5',
    '123456789012',
    '-1',
    '+Inf',
    'NaN',
    '2.5e-05',
  ]);
});

test('labels are escaped, and may be of any alphabet', async () => {
  const metrics = newSet();
  metrics.gauge({ name: 'requests', help: 'a\nb\\', labels: ['a'], read: () => [[{ a: 'x"\\\nß€𝄞' }, 1]] });
  const lines = await linesOf(metrics);
  expect(lines).toContain('# HELP requests [STABLE] a\\nb\\\\');
  expect(lines).toContain('requests{a="x\\"\\\\\\nß€𝄞"} 1');
});

test('writing yields the event loop, and concurrent scrapes share one result', async () => {
  const metrics = newSet();
  const labels = Array.from({ length: 3_000 }, (_each, at) => ({
    verb: `${String(at)}${'x'.repeat(1_000)}`,
  }));
  let turns = 0;
  let isOver = false;
  metrics.counter({
    name: 'requests',
    help: '.',
    labels: ['verb'],
    *read() {
      for (const each of labels) yield [each, turns];
    },
  });
  const count = (): void => {
    turns += 1;
    if (!isOver) setImmediate(count);
  };
  count();
  const [first, second] = await Promise.all([metrics.exposition(), metrics.exposition()]);
  isOver = true;
  expect(first.buffer === second.buffer).toBe(true);
  expect(turns).toBeGreaterThan(2);
  expect(String(first).split('\n')).toHaveLength(3_000 + 3);
});

test('a histogram in an exposition is current, whether it has changed or not', async () => {
  const metrics = newSet();
  const series = ['GET', 'LIST', 'PUT', 'POST'].map((verb) => {
    return { labels: { verb }, took: new DurationHistogram([0.1, 1, 10]), isShown: true };
  });
  metrics.histogram({
    name: 'seconds',
    help: '.',
    labels: ['verb'],
    *read() {
      for (const { labels, took, isShown } of series) if (isShown) yield [labels, took];
    },
  });
  const afresh = async (): Promise<readonly string[]> => {
    const other = newSet();
    const shown = series.filter(({ isShown }) => isShown);
    other.histogram({
      name: 'seconds',
      help: '.',
      labels: ['verb'],
      read: () => shown.map(({ labels, took }) => [{ ...labels }, took]),
    });
    return linesOf(other);
  };
  const [get, list, put, post] = series;
  for (const change of [
    () => get?.took.observe(20),
    () => post?.took.observe(1),
    () => undefined,
    // More digits before what has not changed.
    () => get?.took.observe(50_000, 1_000),
    () => (list === undefined ? undefined : (list.isShown = false)),
    () => put?.took.observe(5_000),
    () => (list === undefined ? undefined : (list.isShown = true)),
    () => undefined,
  ]) {
    change();
    expect(await linesOf(metrics)).toEqual(await afresh());
    metrics.giveBack(await metrics.exposition());
  }
});

test('more unchanged series than one copy holds are correct beside changed ones', async () => {
  const metrics = newSet();
  const series = Array.from({ length: 200 }, (_each, at) => {
    return { labels: { verb: `${String(at)}${'x'.repeat(1_000)}` }, took: new DurationHistogram([0.1, 1]) };
  });
  const read = (): [{ verb: string }, DurationHistogram][] =>
    series.map(({ labels, took }) => [labels, took]);
  const metric = { name: 'seconds', help: '.', labels: ['verb'], read };
  metrics.histogram(metric);
  for (const changed of [0, 150, 199]) {
    series[changed]?.took.observe(changed * 1_000);
    const afresh = newSet();
    afresh.histogram(metric);
    const bytes = await metrics.exposition();
    expect(bytes.equals(await afresh.exposition())).toBe(true);
    metrics.giveBack(bytes);
  }
});

test('returned memory is reused, and memory with readers is not', async () => {
  const metrics = newSet();
  const took = new DurationHistogram([1]);
  metrics.histogram({ name: 'seconds', help: '.', read: () => [[{}, took]] });
  const countIn = (bytes: Buffer): string | undefined => /seconds_count (\d+)/u.exec(String(bytes))?.[1];
  const next = async (): Promise<Buffer> => {
    took.observe(1);
    return metrics.exposition();
  };
  const kept = await next();
  const [one, other] = await Promise.all([next(), metrics.exposition()]);
  metrics.giveBack(one);
  metrics.giveBack(one);
  const memory = new Set([one.buffer]);
  for (let turn = 3; turn < 10; turn++) {
    const bytes = await next();
    expect(countIn(bytes)).toBe(String(turn));
    memory.add(bytes.buffer);
    metrics.giveBack(bytes);
  }
  // Its other reader still holds it; two take turns afterwards.
  expect([countIn(kept), countIn(other)]).toEqual(['1', '2']);
  expect(memory.size).toBe(3);
});

test('a metric without a stability class, or a duplicate, is an error', () => {
  const metrics = newSet();
  const metric = { help: '.', read: () => [] };
  expect(() => {
    metrics.gauge({ ...metric, name: 'unheard_of' });
  }).toThrow('has no class of stability');
  metrics.gauge({ ...metric, name: 'requests' });
  expect(() => {
    metrics.gauge({ ...metric, name: 'requests' });
  }).toThrow('is there twice');
});

test('a shared source of several metrics is computed once per scrape', async () => {
  const metrics = newSet();
  let made = 0;
  const parts = metrics.oncePerReading(() => (made += 1));
  for (const name of ['requests', 'seconds']) metrics.gauge({ name, help: '.', read: () => [[{}, parts()]] });
  expect(await linesOf(metrics)).toEqual(expect.arrayContaining(['requests 1', 'seconds 1']));
  expect(await linesOf(metrics)).toEqual(expect.arrayContaining(['requests 2', 'seconds 2']));
});
