import type { WorstRequest } from './request';
import { filled, SPACE, TYPE, numbered, post } from './request';

const CONFIGMAP = `${SPACE}/configmaps?dryRun=All`;
const HEAD = 'metadata: {name: w}\n';
const POD = 'metadata: {name: w}\nspec:\n  containers:\n';

type Row = readonly [
  name: string,
  begin: string,
  item: string | ((index: number) => string),
  between: string,
  end: string,
];

const ROWS: readonly Row[] = [
  ['list in flow', `${HEAD}a: [`, '0', ',', ']'],
  ['list of objects in flow', `${HEAD}a: [`, '{}', ',', ']'],
  ['list of pairs in flow', `${HEAD}a: [`, 'a: 0', ',', ']'],
  ['list in block', `${HEAD}a:\n`, '- 0', '\n', '\n'],
  ['list of nothing in block', `${HEAD}a:\n`, '-', '\n', '\n'],
  ['lists of lists in block', `${HEAD}a:\n`, '- - - - 0', '\n', '\n'],
  ['map in flow', `${HEAD}data: {`, numbered('k#: ""'), ', ', '}'],
  ['map in block', `${HEAD}data:\n`, numbered('  k#: ""'), '\n', '\n'],
  ['map of unknown numbers', `${HEAD}a:\n`, numbered('  k#: 1.5e3'), '\n', '\n'],
  ['map of explicit keys', `${HEAD}data:\n`, numbered('  ? k#\n  : ""'), '\n', '\n'],
  ['repeated keys', `${HEAD}data:\n`, '  k: ""', '\n', '\n'],
  ['many repeated keys', `${HEAD}data:\n`, numbered('  k#: ""', 1_000), '\n', '\n'],
  ['anchors', `${HEAD}a:\n`, numbered('- &a# 0'), '\n', '\n'],
  ['aliases', `${HEAD}x: &a 0\na: [`, '*a', ',', ']'],
  ['aliases of a long list', `${HEAD}x: &a [${'0,'.repeat(100)}]\na: [`, '*a', ',', ']'],
  ['merges', `${HEAD}x: &a {k: v}\na:\n`, '- <<: *a', '\n', '\n'],
  [
    'merges of a large map',
    `${HEAD}x: &a {${Array.from({ length: 1_000 }, (_, index) => `k${String(index)}: v`).join(', ')}}\na:\n`,
    '- <<: *a',
    '\n',
    '\n',
  ],
  ['one merge of many', `${HEAD}x: &a {k: v}\na:\n  <<: [`, '*a', ',', ']\n'],
  ['literal text', `${HEAD}data:\n  k: |\n`, '   x', '\n', '\n'],
  ['folded text', `${HEAD}data:\n  k: >\n`, '   x', '\n', '\n'],
  ['plain text over lines', `${HEAD}data:\n  k:`, '   x', '\n', '\n'],
  ['escapes', `${HEAD}data:\n  k: "`, String.raw`\x41`, '', '"\n'],
  ['quoted text over lines', `${HEAD}data:\n  k: "`, 'x', '\n', '"\n'],
  ['single quotes', `${HEAD}data:\n  k: '`, "''", '', "'\n"],
  ['comments', HEAD, '# x', '\n', '\n'],
  ['line ends', HEAD, '\n', '', '\n'],
  ['blanks', `${HEAD}a:`, ' ', '', '\n'],
  ['documents', HEAD, '---\n{}', '\n', '\n'],
  ['tags', `${HEAD}a:\n`, '- !!str 0', '\n', '\n'],
  ['long tag', `${HEAD}a: !`, 'a', '', ' 0\n'],
  ['times', `${HEAD}a:\n`, '- 2001-01-01T00:00:00Z', '\n', '\n'],
  ['numbers with underscores', `${HEAD}a: `, '1_', '', '\n'],
  ['sexagesimal numbers', `${HEAD}a:\n`, '- 1:1:1:1.0', '\n', '\n'],
  ['no end', `${HEAD}a: [`, '[', '', ''],
  ['pods with empty containers in flow', `${HEAD}spec: {containers: [`, '{}', ',', ']}'],
  ['long plain key', HEAD, 'k', '', ': v\n'],
  ['questions', HEAD, '? ', '', '\n'],
];

const PATHS: readonly (readonly [suffix: string, query: string])[] = [
  ['', ''],
  [', strict', '&fieldValidation=Strict'],
];

const STRICT: ReadonlySet<string> = new Set([
  'list in flow',
  'map in block',
  'repeated keys',
  'many repeated keys',
  'merges of a large map',
]);

export const BIG_YAML: readonly WorstRequest[] = [
  ...PATHS.flatMap(([suffix, query]) =>
    ROWS.filter(([name]) => query === '' || STRICT.has(name)).map(([name, begin, item, between, end]) =>
      yaml(`YAML: ${name}${suffix}`, `${CONFIGMAP}${query}`, () => filled({ begin, item, between, end })),
    ),
  ),
  yaml('YAML: pod, containers in block', `${SPACE}/pods?dryRun=All`, () =>
    filled({ begin: POD, item: '  - {}', between: '\n', end: '\n' }),
  ),
  yaml('YAML: billion laughs', CONFIGMAP, () => {
    const lists = Array.from(
      { length: 30 },
      (_, index) => `l${String(index + 1)}: &l${String(index + 1)} [${`*l${String(index)},`.repeat(9)}]`,
    );
    return `${HEAD}l0: &l0 [0]\n${lists.join('\n')}\n`;
  }),
  yaml(
    'YAML: list in flow, for a review of access',
    '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
    () => filled({ begin: 'a: [', item: '0', end: ']' }),
  ),
  yaml('YAML: 4,000 deep in block', CONFIGMAP, () => {
    const lines = Array.from({ length: 2_000 }, (_, depth) => `${' '.repeat(depth)}a:`);
    return `${HEAD}${lines.join('\n')}\n`;
  }),
  yaml(
    'YAML: 100,000 deep in flow',
    CONFIGMAP,
    () => `${HEAD}a: ${'['.repeat(100_000)}${']'.repeat(100_000)}`,
  ),
];

/** The largest YAML that is parsed on the event loop. */
const LOOP_BYTES = 4 * 1_024;

export const SMALL_YAML: readonly WorstRequest[] = ROWS.filter(([, begin]) => begin.length < LOOP_BYTES).map(
  ([name, begin, item, between, end]) =>
    yaml(`YAML within the bounds: ${name}`, CONFIGMAP, () =>
      filled({ begin, item, between, end, bytes: LOOP_BYTES }),
    ),
);

function yaml(name: string, path: string, text: () => string): WorstRequest {
  return post(name, path, [TYPE.yaml, text]);
}
