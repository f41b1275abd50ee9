import type { Item, WorstRequest } from './request';
import { filled, numbered, TYPE } from './request';
import { STORED_WITHIN } from './stored';

/** The number of items in an object of {@link STORED_WITHIN}, and of patch operations that are processed on the event loop. */
const KEYS = 700;
const CONTAINERS = 240;
const OPERATIONS = 370;

const { keys, pod, custom } = STORED_WITHIN;
const CONFIGMAP = '"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"within"}';
const POD = '"apiVersion":"v1","kind":"Pod","metadata":{"name":"within"}';

type Change = 'PUT' | 'JSON patch' | 'merge patch' | 'strategic merge patch' | 'apply';

const TYPES: Readonly<Record<Change, string>> = {
  PUT: TYPE.json,
  'JSON patch': TYPE.jsonPatch,
  'merge patch': TYPE.mergePatch,
  'strategic merge patch': TYPE.strategicPatch,
  apply: TYPE.apply,
};

type Row = readonly [
  change: Change,
  what: string,
  path: string,
  begin: string,
  item: Item,
  end: string,
  count: number,
];

const OTHER_VALUES = numbered('"k#":"y"');
const OTHER_IMAGES = numbered('{"name":"c#","image":"j"}');
const SAME_IMAGES = numbered('{"name":"c#","image":"i"}');

const ROWS: readonly Row[] = [
  ['PUT', 'other values', keys, `{${CONFIGMAP},"data":{`, OTHER_VALUES, '}}', KEYS],
  ['PUT', 'other keys', keys, `{${CONFIGMAP},"data":{`, numbered('"n#":"y"'), '}}', KEYS],
  [
    'PUT',
    'priority, which may not change',
    pod,
    `{${POD},"spec":{"priority":9,"containers":[`,
    SAME_IMAGES,
    ']}}',
    CONTAINERS,
  ],
  [
    'PUT',
    'status',
    `${pod}/status`,
    `{${POD},"status":{"containerStatuses":[`,
    numbered('{"name":"c#","image":"i","imageID":"","ready":true,"restartCount":1}'),
    ']}}',
    220,
  ],
  ['merge patch', 'defaults of a custom resource', custom, '{"spec":{"defaulted":[', '{}', ']}}', KEYS],
  ['merge patch', 'other values', keys, '{"data":{', OTHER_VALUES, '}}', KEYS],
  ['merge patch', 'no values', keys, '{"data":{', numbered('"k#":null'), '}}', KEYS],
  [
    'merge patch',
    'fields of many managers',
    keys,
    '{"metadata":{"managedFields":[',
    numbered(
      '{"manager":"m#","operation":"Update","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:data":{"f:k#":{}}}}',
    ),
    ']}}',
    180,
  ],
  ['strategic merge patch', 'other images', pod, '{"spec":{"containers":[', OTHER_IMAGES, ']}}', CONTAINERS],
  [
    'strategic merge patch',
    'order of containers, backwards',
    pod,
    '{"spec":{"$setElementOrder/containers":[',
    (index) => `{"name":"c${String(CONTAINERS - 1 - index)}"}`,
    ']}}',
    CONTAINERS,
  ],
  [
    'JSON patch',
    'other values',
    keys,
    '[',
    numbered('{"op":"replace","path":"/data/k#","value":"y"}'),
    ']',
    OPERATIONS,
  ],
  [
    'JSON patch',
    'containers moved to the end',
    pod,
    '[',
    '{"op":"move","from":"/spec/containers/0","path":"/spec/containers/-"}',
    ']',
    OPERATIONS,
  ],
  ['apply', 'values that others own', keys, `{${CONFIGMAP},"data":{`, OTHER_VALUES, '}}', KEYS],
  ['apply', 'values that others own, forced', keys, `{${CONFIGMAP},"data":{`, OTHER_VALUES, '}}', KEYS],
  ['apply', 'images, forced', pod, `{${POD},"spec":{"containers":[`, OTHER_IMAGES, ']}}', CONTAINERS],
];

/**
 * Changes of the largest objects that are parsed and changed on the event loop. Their cost is less in their bodies than in differences,
 * conflicts and managed fields.
 */
export const JUST_WITHIN: readonly WorstRequest[] = ROWS.map(
  ([change, what, path, begin, item, end, count]) => ({
    name: `${change} within the bounds: ${what}`,
    method: change === 'PUT' ? 'PUT' : 'PATCH',
    path: `${path}?dryRun=All&fieldManager=within${what.endsWith('forced') ? '&force=true' : ''}`,
    headers: { 'content-type': TYPES[change] },
    body: () => Buffer.from(filled({ begin, item, end, count })),
  }),
);
