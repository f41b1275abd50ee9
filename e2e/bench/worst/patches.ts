import type { WorstRequest } from './request';
import { filled, TYPE } from './request';
import { numbered } from './big-json';
import { keys, STORED } from './stored';

const OPERATIONS = 9_999;

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

const JSON_PATCHES: readonly (readonly [name: string, path: string, text: () => string])[] = [
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

const MERGES: readonly (readonly [name: string, path: string, text: () => string])[] = [
  ['keys', STORED.small, () => filled({ begin: '{"data":{', item: numbered('"n#":""'), end: '}}' })],
  [
    'keys into the stored ones',
    STORED.wide,
    () => filled({ begin: '{"data":{', item: numbered('"n#":""'), end: '}}' }),
  ],
  [
    'removal of keys',
    STORED.wide,
    () => filled({ begin: '{"data":{', item: numbered('"k#":null'), end: '}}' }),
  ],
  ['unknown lists', STORED.small, () => filled({ begin: '{"a":[', item: '[]', end: ']}' })],
  ['deep', STORED.small, () => `${'{"a":'.repeat(9_000)}0${'}'.repeat(9_000)}`],
  [
    'finalizers',
    STORED.finalizers,
    () => filled({ begin: '{"metadata":{"finalizers":[', item: numbered('"a/#"'), end: ']}}' }),
  ],
  ['one small change of the stored object', STORED.wide, () => '{"data":{"x":"y"}}'],
  ['one small change of a long list', STORED.endpoints, () => '{"metadata":{"labels":{"x":"y"}}}'],
  ['one small change of many finalizers', STORED.finalizers, () => '{"metadata":{"labels":{"x":"y"}}}'],
];

const STRATEGIC: readonly (readonly [name: string, path: string, text: () => string])[] = [
  ['keys', STORED.wide, () => filled({ begin: '{"data":{', item: numbered('"n#":""'), end: '}}' })],
  [
    'empty containers',
    STORED.pod,
    () => filled({ begin: '{"spec":{"containers":[', item: '{}', end: ']}}' }),
  ],
  [
    'containers',
    STORED.pod,
    () => filled({ begin: '{"spec":{"containers":[', item: numbered('{"name":"n#"}'), end: ']}}' }),
  ],
  [
    'the stored containers again and again',
    STORED.pod,
    () => filled({ begin: '{"spec":{"containers":[', item: numbered('{"name":"c#"}', 2_000), end: ']}}' }),
  ],
  [
    'one container again and again',
    STORED.pod,
    () => filled({ begin: '{"spec":{"containers":[', item: '{"name":"c0"}', end: ']}}' }),
  ],
  [
    'deletion of containers',
    STORED.pod,
    () =>
      filled({
        begin: '{"spec":{"containers":[',
        item: numbered('{"name":"c#","$patch":"delete"}'),
        end: ']}}',
      }),
  ],
  [
    'replacements',
    STORED.pod,
    () => filled({ begin: '{"spec":{"containers":[', item: '{"$patch":"replace"}', end: ']}}' }),
  ],
  [
    'order of containers',
    STORED.pod,
    () =>
      filled({
        begin: '{"spec":{"$setElementOrder/containers":[',
        item: numbered('{"name":"n#"}'),
        end: ']}}',
      }),
  ],
  [
    'order of the stored containers, backwards',
    STORED.pod,
    () =>
      `{"spec":{"$setElementOrder/containers":[${Array.from({ length: 2_000 }, (_, index) => `{"name":"c${String(1_999 - index)}"}`).join(',')}]}}`,
  ],
  [
    'order and containers',
    STORED.pod,
    () => {
      const names = Array.from({ length: 70_000 }, (_, index) => `{"name":"n${String(index)}"}`).join(',');
      return `{"spec":{"$setElementOrder/containers":[${names}],"containers":[${names}]}}`;
    },
  ],
  [
    'volumes',
    STORED.pod,
    () =>
      filled({ begin: '{"spec":{"volumes":[', item: numbered('{"name":"v#","emptyDir":{}}'), end: ']}}' }),
  ],
  [
    'env of one container',
    STORED.pod,
    () =>
      filled({
        begin: '{"spec":{"containers":[{"name":"c0","env":[',
        item: numbered('{"name":"e#","value":"v"}'),
        end: ']}]}}',
      }),
  ],
  [
    'retained keys',
    STORED.pod,
    () => filled({ begin: '{"spec":{"$retainKeys":[', item: numbered('"r#"'), end: ']}}' }),
  ],
  [
    'deletion of finalizers',
    STORED.finalizers,
    () =>
      filled({
        begin: '{"metadata":{"$deleteFromPrimitiveList/finalizers":[',
        item: numbered('"a.b/f#"'),
        end: ']}}',
      }),
  ],
  [
    'finalizers',
    STORED.finalizers,
    () => filled({ begin: '{"metadata":{"finalizers":[', item: numbered('"a.b/g#"'), end: ']}}' }),
  ],
  [
    'order of finalizers',
    STORED.finalizers,
    () =>
      filled({
        begin: '{"metadata":{"$setElementOrder/finalizers":[',
        item: numbered('"a.b/f#"'),
        end: ']}}',
      }),
  ],
  [
    'owners',
    STORED.small,
    () => filled({ begin: '{"metadata":{"ownerReferences":[', item: numbered('{"uid":"u#"}'), end: ']}}' }),
  ],
  ['deep', STORED.small, () => `${'{"a":'.repeat(9_000)}0${'}'.repeat(9_000)}`],
  ['one small change of a long pod', STORED.pod, () => '{"metadata":{"labels":{"x":"y"}}}'],
  ['one small change of the stored object', STORED.wide, () => '{"data":{"x":"y"}}'],
];

/** Fields in an applied configuration. */
const APPLIES: readonly (readonly [name: string, path: string, query: string, text: () => string])[] = [
  ['keys', STORED.small, '', () => filled({ begin: '{"data":{', item: numbered('"n#":""'), end: '}}' })],
  [
    'keys that others own',
    STORED.wide,
    '',
    () => filled({ begin: '{"data":{', item: numbered('"k#":"x"'), end: '}}', count: 60_000 }),
  ],
  [
    'keys that others own, forced',
    STORED.wide,
    '&force=true',
    () => filled({ begin: '{"data":{', item: numbered('"k#":"x"'), end: '}}', count: 60_000 }),
  ],
  [
    'keys that others own and that are equal',
    STORED.wide,
    '',
    () => filled({ begin: '{"data":{', item: numbered('"k#":""'), end: '}}', count: 60_000 }),
  ],
  [
    'empty containers',
    STORED.pod,
    '',
    () => filled({ begin: '{"spec":{"containers":[', item: '{}', end: ']}}' }),
  ],
  [
    'containers',
    STORED.pod,
    '',
    () =>
      filled({ begin: '{"spec":{"containers":[', item: numbered('{"name":"n#","image":"i"}'), end: ']}}' }),
  ],
  [
    'one container again and again',
    STORED.pod,
    '',
    () => filled({ begin: '{"spec":{"containers":[', item: '{"name":"c0"}', end: ']}}' }),
  ],
  [
    'finalizers',
    STORED.finalizers,
    '&force=true',
    () => filled({ begin: '{"metadata":{"finalizers":[', item: numbered('"a.b/g#"'), end: ']}}' }),
  ],
  [
    'owners',
    STORED.small,
    '',
    () =>
      filled({
        begin: '{"metadata":{"ownerReferences":[',
        item: numbered('{"uid":"u#","apiVersion":"v1","kind":"a","name":"b"}'),
        end: ']}}',
      }),
  ],
  [
    'addresses',
    STORED.endpoints,
    '&force=true',
    () => filled({ begin: '{"subsets":[{"addresses":[', item: '{"ip":"1.2.3.4"}', end: ']}]}' }),
  ],
  [
    'keys of a custom resource',
    STORED.custom,
    '&force=true',
    () => filled({ begin: '{"spec":{"free":{', item: numbered('"n#":""'), end: '}}}' }),
  ],
  [
    'items of a map of a custom resource',
    STORED.custom,
    '&force=true',
    () => filled({ begin: '{"spec":{"map":[', item: numbered('{"name":"n#"}'), end: ']}}' }),
  ],
  ['one key of the stored object', STORED.wide, '&force=true', () => '{"data":{"x":"y"}}'],
];

/** An applied configuration names its kind. */
const KIND_OF: Readonly<Record<string, string>> = {
  [STORED.pod]: '"apiVersion":"v1","kind":"Pod"',
  [STORED.endpoints]: '"apiVersion":"v1","kind":"Endpoints"',
  [STORED.custom]: '"apiVersion":"worst.example/v1","kind":"Wide"',
};
const CONFIGMAP_KIND = '"apiVersion":"v1","kind":"ConfigMap"';

export const PATCHES: readonly WorstRequest[] = [
  ...JSON_PATCHES.map(([name, path, text]) => patch(`JSON patch: ${name}`, path, [TYPE.jsonPatch, text])),
  ...MERGES.map(([name, path, text]) => patch(`merge patch: ${name}`, path, [TYPE.mergePatch, text])),
  ...STRATEGIC.map(([name, path, text]) =>
    patch(`strategic merge patch: ${name}`, path, [TYPE.strategicPatch, text]),
  ),
  ...APPLIES.map(([name, path, query, text]) => {
    const kind = KIND_OF[path] ?? CONFIGMAP_KIND;
    const configured = (): string => `{${kind},${text().slice(1)}`;
    return patch(`apply: ${name}`, path, [TYPE.apply, configured], `&fieldManager=applier${query}`);
  }),
  patch(
    'apply: keys in YAML',
    STORED.small,
    [
      TYPE.apply,
      () =>
        filled({
          begin: 'apiVersion: v1\nkind: ConfigMap\ndata:\n',
          item: numbered('  n#: ""'),
          between: '\n',
          end: '\n',
        }),
    ],
    '&fieldManager=applier',
  ),
  patch(
    'apply: list in flow in YAML',
    STORED.small,
    [TYPE.apply, () => filled({ begin: 'apiVersion: v1\nkind: ConfigMap\na: [', item: '0', end: ']' })],
    '&fieldManager=applier',
  ),
];

function patch(
  name: string,
  path: string,
  [type, text]: readonly [type: string, text: () => string],
  query = '',
): WorstRequest {
  return {
    name,
    method: 'PATCH',
    path: `${path}?dryRun=All${query}`,
    headers: { 'content-type': type },
    body: () => Buffer.from(text()),
  };
}
