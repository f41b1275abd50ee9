import { filled, numbered } from './request';
import { keys, STORED } from './stored';

export type PatchRow = readonly [name: string, path: string, text: () => string];

const OPERATIONS = 9_999;

export const JSON_PATCHES: readonly PatchRow[] = [
  [
    'move of the first item to the end',
    STORED.small,
    () => onLongList({ op: 'move', from: '/a/0', path: '/a/-' }),
  ],
  [
    'move of the last item to the front',
    STORED.small,
    () => onLongList({ op: 'move', from: '/a/-1', path: '/a/0' }),
  ],
  ['removal of the first item', STORED.small, () => onLongList({ op: 'remove', path: '/a/0' })],
  ['addition in front', STORED.small, () => onLongList({ op: 'add', path: '/a/0', value: 0 })],
  ['copy to the front', STORED.small, () => onLongList({ op: 'copy', from: '/a/1', path: '/a/0' })],
  ['replacement', STORED.small, () => onLongList({ op: 'replace', path: '/a/0', value: 0 }, 1_200_000)],
  [
    'copy that doubles',
    STORED.small,
    () =>
      operations(() => '{"op":"copy","from":"/a","path":"/a/-"}', '{"op":"add","path":"/a","value":[0]},'),
  ],
  [
    'copies of a list, each changed',
    STORED.small,
    () =>
      pairs(
        (index) =>
          `{"op":"copy","from":"/a","path":"/b${String(index)}"},{"op":"add","path":"/b${String(index)}/0","value":0}`,
        `{"op":"add","path":"/a","value":${ZEROS}},`,
      ),
  ],
  [
    'copies of a large object, each moved',
    STORED.wide,
    () =>
      pairs(
        (index) =>
          `{"op":"move","from":"/data","path":"/d${String(index)}"},{"op":"move","from":"/d${String(index)}","path":"/data"}`,
      ),
  ],
  [
    'tests of a large value',
    STORED.small,
    () => {
      const text = 'x'.repeat(250);
      return operations(
        `{"op":"test","path":"/a","value":"${text}"}`,
        `{"op":"add","path":"/a","value":"${text}"},`,
      );
    },
  ],
  [
    'test of the stored object',
    STORED.wide,
    () => `[{"op":"test","path":"/data","value":${JSON.stringify(keys(60_000))}}]`,
  ],
  [
    'failing tests of the stored object',
    STORED.wide,
    () => operations('{"op":"test","path":"/data","value":null}'),
  ],
  ['long pointer', STORED.small, () => `[{"op":"add","path":"${'/a'.repeat(1_400_000)}","value":0}]`],
  ['long key', STORED.small, () => `[{"op":"add","path":"/${'a'.repeat(2_900_000)}","value":0}]`],
  [
    'escapes in a pointer',
    STORED.small,
    () => `[{"op":"add","path":"/${'~1'.repeat(1_400_000)}","value":0}]`,
  ],
  [
    'deep pointers',
    STORED.small,
    () =>
      operations(
        `{"op":"add","path":"${'/a'.repeat(100)}/-","value":0}`,
        `{"op":"add","path":"/a","value":${'{"a":'.repeat(99)}[]${'}'.repeat(99)}},`,
      ),
  ],
  [
    'keys added to the stored object',
    STORED.wide,
    () => operations(numbered('{"op":"add","path":"/data/n#","value":""}')),
  ],
  [
    'keys removed from the stored object',
    STORED.wide,
    () => operations(numbered('{"op":"remove","path":"/data/k#"}')),
  ],
  [
    'containers removed from the front',
    STORED.pod,
    () => filled({ begin: '[', item: '{"op":"remove","path":"/spec/containers/0"}', end: ']', count: 1_999 }),
  ],
  [
    'finalizers moved',
    STORED.finalizers,
    () => operations('{"op":"move","from":"/metadata/finalizers/0","path":"/metadata/finalizers/-"}'),
  ],
  ['empty operations', STORED.small, () => filled({ begin: '[', item: '{}', end: ']' })],
  [
    'many unknown fields',
    STORED.small,
    () => filled({ begin: '[{"op":"add","path":"/a","value":0,', item: numbered('"u#":0'), end: '}]' }),
  ],
  ['one small change of the stored object', STORED.wide, () => '[{"op":"add","path":"/data/x","value":"y"}]'],
];

/** A list of zeros and 9,999 operations on it. */
function onLongList(operation: object, length = 1_200_000): string {
  const text = JSON.stringify(operation);
  return `[{"op":"add","path":"/a","value":[${'0,'.repeat(length)}0]},${`${text},`.repeat(OPERATIONS - 1)}${text}]`;
}

function operations(item: string | ((index: number) => string), first = ''): string {
  return filled({ begin: `[${first}`, item, end: ']', count: OPERATIONS });
}

/** Each item is two operations. */
function pairs(item: (index: number) => string, first = ''): string {
  return filled({ begin: `[${first}`, item, end: ']', count: OPERATIONS / 2 - 1 });
}

const ZEROS = `[${'0,'.repeat(250)}0]`;
