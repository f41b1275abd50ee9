import type { ListOperation, ObjectOperation } from '../record/operation';
import { madeHistory } from '../testing/hand-made';
import { checkAges, checkLists } from './lists';

const HISTORY = madeHistory(
  [101, 'configmaps/chaos-0/a', '1', 'left'],
  [102, 'configmaps/chaos-1/b', '2', 'right'],
  [103, 'configmaps/chaos-0/a', '3', 'right'],
  [104, 'secrets/chaos-1/s', '4'],
  [105, 'configmaps/chaos-1/b'],
);
const A1 = { key: 'chaos-0/a', version: 101, turn: '1' };
const A3 = { key: 'chaos-0/a', version: 103, turn: '3' };
const B2 = { key: 'chaos-1/b', version: 102, turn: '2' };

function list(given: Partial<ListOperation>): ListOperation {
  return {
    view: 'configmaps',
    replicas: [0],
    invokedMs: 10,
    returnedMs: 11,
    asked: { kind: 'most recent' },
    versions: [105],
    objects: [A3],
    ...given,
  };
}

const ACKNOWLEDGED: ObjectOperation = {
  key: 'secrets/chaos-1/s',
  verb: 'create',
  replica: 0,
  invokedMs: 1,
  returnedMs: 2,
  turn: '4',
  outcome: 'done',
  version: 104,
};

function checksOf(given: Partial<ListOperation>): readonly string[] {
  return checkLists([list(given)], [ACKNOWLEDGED], HISTORY).map(({ check }) => check);
}

test.each<[string, Partial<ListOperation>]>([
  ['the newest state', {}],
  [
    'a past one that was asked for',
    { asked: { kind: 'exact', version: 102 }, versions: [102], objects: [A1, B2] },
  ],
  ['any', { asked: { kind: 'any' }, versions: [101], objects: [A1] }],
  [
    'pages of one version',
    { asked: { kind: 'any' }, versions: [102, 102], replicas: [0, 1], objects: [A1, B2] },
  ],
  [
    'what a selector selects',
    { view: 'configmaps left', asked: { kind: 'any' }, versions: [102], objects: [A1] },
  ],
  ['a newer state than the one asked for', { asked: { kind: 'not older than', version: 101 } }],
])('a list of %s is right', (_what, given) => {
  expect(checksOf(given)).toEqual([]);
});

test.each<[string, Partial<ListOperation>, string]>([
  ['an object too many', { objects: [A3, B2] }, 'list is one snapshot'],
  ['an object too few', { objects: [] }, 'list is one snapshot'],
  ['an object as it was', { objects: [A1] }, 'list is one snapshot'],
  ['an object twice', { objects: [A3, A3] }, 'list is one snapshot'],
  ['pages of two versions', { versions: [104, 105], objects: [A3] }, 'list is one snapshot'],
  ['a version that has not happened', { versions: [200] }, 'list is one snapshot'],
  ['a state older than an acknowledged write', { versions: [103], objects: [A3, B2] }, 'fresh reads'],
  [
    'a state older than the one asked for',
    { asked: { kind: 'not older than', version: 104 }, versions: [103], objects: [A3, B2] },
    'not older than',
  ],
  ['another version than exactly this', { asked: { kind: 'exact', version: 104 } }, 'not older than'],
])('a list of %s is found', (_what, given, check) => {
  expect(checksOf(given)).toContain(check);
});

test('a get that asked for a version may show what held then or later, and nothing that was replaced before', () => {
  const read = (version: number, turn: string, asked: number): readonly string[] =>
    checkAges([{ key: 'configmaps/chaos-0/a', replica: 0, asked, invokedMs: 0, version, turn }], HISTORY).map(
      ({ check }) => check,
    );
  expect(read(101, '1', 102)).toEqual([]);
  expect(read(103, '3', 102)).toEqual([]);
  expect(read(101, '1', 103)).toEqual(['not older than']);
  expect(read(103, 'else', 102)).toEqual(['fresh reads']);
});
