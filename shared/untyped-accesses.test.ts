import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

/**
 * Number of accesses to fields by names that the compiler does not check. Fields of kinds have types (ADR 27); data keys (tables, custom
 * schemas, environment, headers) cannot. May only be lowered.
 */
const UNTYPED_ACCESSES = 138;

const ROOT = path.resolve(__dirname, '..');
const FOLDERS = ['apiserver', 'controller-manager', 'deploy', 'e2e', 'shared'];

/** `object['field']`, but for the variables of the environment, which have no other spelling. */
const BY_NAME = /(?<![\s([{,:=&|?!<>]|\benv)(?:\?\.)?\['[A-Za-z_$][\w$]*'\]/gu;

/** Views of any value as fields that are not known. */
const VIEWS = /(?<![.\w])(?:record|records|optionalRecord)\(/gu;

/** Reading by a path; what counts is a field's name among the arguments. */
const PATHS = /(?<![.\w])(?:at|textAt|textOr|numberAt|flagAt|listAt|textsAt|mapAt|scalarOr)\(/gu;

/** The files that define these views and paths. */
const DEFINITIONS = new Set(['shared/object/accessors.ts']);

test('no new code reads fields by names that the compiler does not check', () => {
  const counts = programFiles().map((file) => [file, accessesOf(file)] as const);
  const total = counts.reduce((sum, [, count]) => sum + count, 0);
  const most = counts.filter(([, count]) => count > 0).sort(([, a], [, b]) => b - a);
  const shown = most.slice(0, 20).map(([file, count]) => `${String(count)} ${file}`);
  expect({ total, most: total === UNTYPED_ACCESSES ? [] : shown }).toEqual({
    total: UNTYPED_ACCESSES,
    most: [],
  });
});

test.each([
  ["spec['replicas']", 1],
  ["(object as Json)?.['spec']", 1],
  ["record(a['b'])['c']", 3],
  ["textAt(pod, 'status', 'phase')", 1],
  ["textOr(NONE, first(items), 'ip')", 1],
  ["list.at(-1) ?? at(value, ...path) ?? process.env['HOME']", 0],
  ["const NAMES = ['a']; for (const each of ['b']) f(['c'], x ? ['d'] : ['e']);", 0],
  ["// spec['replicas']\n/* record(x) */", 0],
])('%s counts as many: %d', (text, count) => {
  expect(accessesIn(text)).toBe(count);
});

function programFiles(): readonly string[] {
  return FOLDERS.flatMap((folder) =>
    readdirSync(path.join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((file) =>
      path.posix.join(folder, file),
    ),
  ).filter((file) => file.endsWith('.ts') && !/\.test\.ts$|(?:^|\/)testing\//u.test(file));
}

function accessesOf(file: string): number {
  return DEFINITIONS.has(file) ? 0 : accessesIn(readFileSync(path.join(ROOT, file), 'utf8'));
}

function accessesIn(source: string): number {
  const text = source.replaceAll(/\/\*[\s\S]*?\*\//gu, '').replaceAll(/^\s*\/\/.*$/gmu, '');
  const paths = [...text.matchAll(PATHS)].filter(({ index, 0: head }) =>
    /,\s*'/u.test(argumentsAt(text, index + head.length)),
  );
  return [...text.matchAll(BY_NAME)].length + [...text.matchAll(VIEWS)].length + paths.length;
}

/** Returns the text between the parentheses that open just before `start`. */
function argumentsAt(text: string, start: number): string {
  let depth = 1;
  let end = start;
  while (depth > 0 && end < text.length) {
    if (text[end] === '(') depth += 1;
    if (text[end] === ')') depth -= 1;
    end += 1;
  }
  return text.slice(start, end - 1);
}
