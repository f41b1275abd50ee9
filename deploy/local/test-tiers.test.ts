import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { repositoryRoot } from './repository';

interface Suite {
  readonly file: string;
  readonly tier: string | undefined;
  readonly budgetSeconds: number;
}

interface Table extends Readonly<Record<'everyday' | 'rest' | 'nightly', Readonly<Record<string, number>>>> {
  readonly unit: readonly string[];
  readonly alone: Readonly<Record<string, string>>;
}

const TIERS = ['everyday', 'rest', 'nightly'] as const;
const PART_STEPS = /(?:^|\s)((?:e2e|apiserver|shared|deploy)\/[\w./-]+)/gu;

const table = readJson('test-tiers.json') as Table;
const suites = listSuites();

test('every suite is in one tier and has a budget', () => {
  expect(suites.filter(({ tier, budgetSeconds }) => tier === undefined || !(budgetSeconds > 0))).toEqual([]);
  const listed = TIERS.flatMap((tier) => Object.keys(table[tier]));
  expect(listed.filter((file, index) => listed.indexOf(file) !== index)).toEqual([]);
});

test('the table names no suite that does not exist', () => {
  const named = [
    ...TIERS.flatMap((tier) => Object.keys(table[tier])),
    ...Object.keys(table.alone),
    ...table.unit,
  ];
  expect(named.filter((file) => !existsSync(path.join(repositoryRoot, file)))).toEqual([]);
});

test('the nightly parts name paths of suites that exist', () => {
  const parts = readJson('nightly-parts.json') as Readonly<
    Record<string, { readonly steps: readonly string[] }>
  >;
  const files = suites.map(({ file }) => file);
  const named = Object.values(parts).flatMap(({ steps }) =>
    steps.flatMap((step) => [...step.matchAll(PART_STEPS)].map(([, word = '']) => word)),
  );
  expect(named.length).toBeGreaterThan(0);
  const unknown = named.filter(
    (word) => !word.endsWith('.mjs') && !files.some((file) => file.startsWith(word)),
  );
  expect(unknown).toEqual([]);
});

function readJson(name: string): unknown {
  return JSON.parse(readFileSync(path.join(__dirname, name), 'utf8'));
}

/** Jest cannot load the runner's module, so another process does. */
function listSuites(): readonly Suite[] {
  const url = pathToFileURL(path.join(__dirname, 'test-suites.mjs')).href;
  const text = `import { listSuites } from '${url}'; console.log(JSON.stringify(listSuites()));`;
  const output = execFileSync(process.execPath, ['--input-type=module', '--eval', text], {
    encoding: 'utf8',
  });
  return JSON.parse(output) as readonly Suite[];
}
