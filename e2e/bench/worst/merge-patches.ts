import type { PatchRow } from './json-patches';
import { filled, numbered } from './request';
import { STORED } from './stored';

export const MERGES: readonly PatchRow[] = [
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

export const STRATEGIC: readonly PatchRow[] = [
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
    'one container again and again, with a growing map',
    STORED.pod,
    () =>
      filled({
        begin: '{"spec":{"containers":[',
        item: numbered('{"name":"c0","resources":{"limits":{"r#":"1"}}}'),
        end: ']}}',
      }),
  ],
  [
    'one container again and again, with a growing list',
    STORED.pod,
    () =>
      filled({
        begin: '{"spec":{"containers":[',
        item: numbered('{"name":"c0","env":[{"name":"e#"}]}'),
        end: ']}}',
      }),
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
