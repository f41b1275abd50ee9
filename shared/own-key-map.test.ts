import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { ownKeyMap } from './own-key-map';

/**
 * A plain object has inherited members: `table['constructor']` is a function (prototype pollution). Where a client chooses the key, that
 * is a crash at best. So tables whose keys are any text are made by `ownKeyMap`; where the keys are a union, the compiler refuses any
 * other word.
 */

const ROOT = path.resolve(__dirname, '..');
const FOLDERS = ['apiserver', 'controller-manager', 'deploy', 'e2e', 'shared'];

/** Constants without lookups by key, with the reason. */
const NO_TABLES: Readonly<Record<string, string>> = {
  NO_LABELS: 'has no prototype, and no member',
  NOTHING: 'stands for an absent object, which is read like any other',
  '#annotations': 'is a copy for the event, by names of annotations that the server gives',
  MESSAGES: 'is gone through once, when the program starts',
};

/** Constants of modules, and what classes keep, with any text for keys. */
const OPEN_CONSTANTS =
  /^(?:(?:export )?const| +static readonly| +(?:readonly )?(?=#)) ?(#?\w+): (?:Readonly<|Partial<)*Record<string,/gmu;
/** Casts to such a table with an immediate lookup. */
const OPEN_VIEWS = /\bas (?:unknown as )?(?:Readonly<|Partial<)*Record<string,[^;\n]*?>\)\[/gu;
/** A word that is said to be a key of a table, which the compiler then believes. */
const BELIEVED_WORDS = /\[[^\]\n]* as keyof typeof \w+\]|[(!]\w+ in [A-Z][A-Z_]+\)/gu;

/** A member that is created when missing under a computed key: an inherited one would count as present and be shared. */
const MADE_MEMBERS = /[\w)\]]\[[^\]'"\n]+\] (?:\?\?|\|\|)=/gu;

test.each(['constructor', '__proto__', 'toString', 'hasOwnProperty', 'valueOf', '__defineGetter__'])(
  'a table of words has no row %s',
  (word) => {
    const table = ownKeyMap({ one: 1 });
    expect([table.get(word), table.has(word), table.get('one')]).toEqual([undefined, false, 1]);
  },
);

test('no constant with arbitrary keys is a plain object', () => {
  const found = sources().flatMap(([file, text]) =>
    [...text.matchAll(OPEN_CONSTANTS)].map(([, name = '']) => ({ file, name })),
  );
  const names = found.map(({ name }) => name);
  expect(found.filter(({ name }) => !Object.hasOwn(NO_TABLES, name))).toEqual([]);
  expect(Object.keys(NO_TABLES).filter((name) => !names.includes(name))).toEqual([]);
});

test('nothing is looked up in what is only viewed as a table, or by a word that only claims to be a key', () => {
  const found = sources().flatMap(([file, text]) =>
    [...text.matchAll(OPEN_VIEWS), ...text.matchAll(BELIEVED_WORDS)].map(([access]) => `${file}: ${access}`),
  );
  expect(found).toEqual(VIEWED);
});

test('no member is created where an inherited one could be mistaken for it', () => {
  const found = sources().flatMap(([file, text]) =>
    [...text.matchAll(MADE_MEMBERS)].map(([access]) => `${file}: ${access}`),
  );
  expect(found).toEqual(MADE);
});

/** The names of a message's fields, and the indices of a list. */
const MADE: readonly string[] = [
  'shared/protobuf/decode.ts: t[name] ??=',
  'shared/cel/schema/data-values.ts: d[index] ??=',
];

/** The members of a stored object, by names that come from the definition of its kind. */
const VIEWED: readonly string[] = [
  'apiserver/engine/watch-cache/state/entry-codec.ts: as Record<string, unknown>)[',
  'apiserver/engine/watch-cache/state/entry-codec.ts: as Record<string, unknown>)[',
  'shared/schema/encode.ts: as Record<string, unknown>)[',
];

test.each([
  ['const TABLE: Readonly<Record<string, number>> = { a: 1 };', 1],
  ['export const TABLE: Record<string, number> = { a: 1 };', 1],
  ["const TABLE: Readonly<Record<'a' | 'b', number>> = { a: 1, b: 2 };", 0],
  ['(TABLE as Readonly<Record<string, Row>>)[word]', 1],
  ['TABLE[word as keyof typeof TABLE]', 1],
  ['if (word in TABLE) return;', 1],
  ['at = at[name] ??= {};', 1],
  ['(rows[each.name] ||= []).push(each);', 1],
  ['byName[0] ??= first;', 1],
  ["fields['name'] ??= 1; rows.first ??= 2;", 0],
  ['const table = wordTable({ a: 1 });', 0],
])('%s counts as many: %d', (text, count) => {
  const found = [OPEN_CONSTANTS, OPEN_VIEWS, BELIEVED_WORDS, MADE_MEMBERS].flatMap((each) => [
    ...text.matchAll(each),
  ]);
  expect(found).toHaveLength(count);
});

function sources(): readonly (readonly [file: string, text: string])[] {
  const files = FOLDERS.flatMap((folder) =>
    readdirSync(path.join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((file) =>
      path.posix.join(folder, file),
    ),
  );
  const program = files.filter(
    (file) => file.endsWith('.ts') && !/\.test\.ts$|(?:^|\/)testing\//u.test(file),
  );
  return program.map((file) => [file, withoutComments(readFileSync(path.join(ROOT, file), 'utf8'))]);
}

function withoutComments(text: string): string {
  return text.replaceAll(/\/\*[\s\S]*?\*\//gu, '').replaceAll(/^\s*\/\/.*$/gmu, '');
}
