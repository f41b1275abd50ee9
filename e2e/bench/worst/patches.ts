import { ownKeyMap } from '../../../shared/own-key-map';
import type { WorstRequest } from './request';
import { filled, numbered, TYPE } from './request';
import { JSON_PATCHES } from './json-patches';
import { MERGES, STRATEGIC } from './merge-patches';
import { STORED } from './stored';

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
const KIND_OF = ownKeyMap<string>({
  [STORED.pod]: '"apiVersion":"v1","kind":"Pod"',
  [STORED.endpoints]: '"apiVersion":"v1","kind":"Endpoints"',
  [STORED.custom]: '"apiVersion":"worst.example/v1","kind":"Wide"',
});
const CONFIGMAP_KIND = '"apiVersion":"v1","kind":"ConfigMap"';

export const PATCHES: readonly WorstRequest[] = [
  ...JSON_PATCHES.map(([name, path, text]) => patch(`JSON patch: ${name}`, path, [TYPE.jsonPatch, text])),
  ...MERGES.map(([name, path, text]) => patch(`merge patch: ${name}`, path, [TYPE.mergePatch, text])),
  ...STRATEGIC.map(([name, path, text]) =>
    patch(`strategic merge patch: ${name}`, path, [TYPE.strategicPatch, text]),
  ),
  ...APPLIES.map(([name, path, query, text]) => {
    const kind = KIND_OF.get(path) ?? CONFIGMAP_KIND;
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
