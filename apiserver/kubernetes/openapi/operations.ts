import type { SubresourceRow } from '../../../shared/api/resources';
import type { GroupVersionKind } from '../../../shared/object/object';
import { MEDIA_TYPE } from '../../../shared/names';
import type { Endpoint } from '../../engine/registry/resource';
import { groupTag, groupVersionId, pascal } from './names';
import type { Parameter } from './parameters';
import { QUERY, SUBRESOURCE_QUERY } from './parameters';
import { ownKeyMap } from '../../../shared/own-key-map';

export const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch'] as const;
export type Method = (typeof METHODS)[number];

/** One operation on one path, from which the documents of both OpenAPI versions are built. */
export interface Operation {
  readonly path: string;
  readonly method: Method;
  /** Unique in the document. */
  readonly id: string;
  readonly tag: string;
  readonly query: readonly Parameter[];
  /** The message of the body, if there is one. */
  readonly body?: { readonly message: string; readonly required: boolean };
  readonly consumes: readonly string[];
  readonly produces: readonly string[];
  /** The status codes of success and the message of the response; undefined for plain text. */
  readonly codes: readonly number[];
  readonly answer: string | undefined;
  readonly action?: string;
  readonly kind?: GroupVersionKind;
}

const STATUS = 'meta/v1.Status';
const ANY_TYPE = ['*/*'];
export const OBJECT_TYPES = [MEDIA_TYPE.json, MEDIA_TYPE.yaml, MEDIA_TYPE.protobuf];
const LIST_TYPES = [
  ...OBJECT_TYPES,
  `${MEDIA_TYPE.json};stream=watch`,
  `${MEDIA_TYPE.protobuf};stream=watch`,
];
const PATCH_TYPES = [
  MEDIA_TYPE.jsonPatch,
  MEDIA_TYPE.mergePatch,
  MEDIA_TYPE.strategicMergePatch,
  MEDIA_TYPE.applyPatch,
];

/** The description of a verb. `name` builds the operation id from the group version, the scope and the kind. */
interface VerbRow {
  readonly method: Method;
  readonly action: string;
  readonly word: string;
  readonly query: readonly Parameter[];
  readonly codes: readonly number[];
  readonly consumes?: readonly string[];
  readonly body?: 'object' | 'patch' | 'delete options';
}

/** Verbs on one object, and the creation; those on whole collections are in `collectionOperations`. */
const VERB_ROWS = ownKeyMap<VerbRow>({
  create: {
    method: 'post',
    action: 'post',
    word: 'create',
    query: QUERY.write,
    codes: [200, 201, 202],
    body: 'object',
  },
  get: { method: 'get', action: 'get', word: 'read', query: QUERY.none, codes: [200] },
  update: {
    method: 'put',
    action: 'put',
    word: 'replace',
    query: QUERY.write,
    codes: [200, 201],
    body: 'object',
  },
  patch: {
    method: 'patch',
    action: 'patch',
    word: 'patch',
    query: QUERY.patch,
    codes: [200],
    consumes: PATCH_TYPES,
    body: 'patch',
  },
  delete: {
    method: 'delete',
    action: 'delete',
    word: 'delete',
    query: QUERY.delete,
    codes: [200, 202],
    body: 'delete options',
  },
});

/** Subresources that connect to a node or backend. */
const CONNECTS: ReadonlySet<string> = new Set(['attach', 'exec', 'portforward', 'proxy']);

/** Returns every operation of an endpoint and its subresources. */
export function operationsOf(endpoint: Endpoint, serverSideApply: boolean): readonly Operation[] {
  const operations = allOperations(endpoint);
  if (serverSideApply) return operations;
  return operations.map((operation) => ({
    ...operation,
    consumes: operation.consumes.filter((each) => each !== MEDIA_TYPE.applyPatch),
  }));
}

function allOperations(endpoint: Endpoint): readonly Operation[] {
  const { row, subresources } = endpoint;
  const place = placeOf(endpoint);
  return [
    ...collectionOperations(endpoint, place),
    ...row.verbs.flatMap((verb) => objectOperation(endpoint, place, verb)),
    ...[...subresources.values()].flatMap((each) => subresourceOperations(endpoint, place, each)),
    ...watchOperations(endpoint, place),
  ];
}

interface Place {
  /** For example `/apis/apps/v1`. */
  readonly root: string;
  /** The path after the root: `namespaces/{namespace}/deployments`. */
  readonly collection: string;
  /** `Namespaced` for a namespaced resource. */
  readonly scope: string;
  readonly idPrefix: string;
  readonly common: Pick<Operation, 'tag' | 'kind'>;
}

function placeOf({ row, apiVersion }: Endpoint): Place {
  const { group, version, kind } = row;
  return {
    root: group === '' ? `/api/${apiVersion}` : `/apis/${apiVersion}`,
    collection: row.namespaced ? `namespaces/{namespace}/${row.resource}` : row.resource,
    scope: row.namespaced ? 'Namespaced' : '',
    idPrefix: groupVersionId(group, version),
    common: { tag: `${groupTag(group)}_${version}`, kind: { group, kind, version } },
  };
}

function objectOperation(endpoint: Endpoint, place: Place, verb: string): readonly Operation[] {
  const verbRow = VERB_ROWS.get(verb);
  if (verbRow === undefined) return [];
  const { schema, kind } = endpoint.row;
  const { word, body, consumes = ANY_TYPE, ...rest } = verbRow;
  const answersStatus = verb === 'delete' && endpoint.stored.strategy.compat?.returnsDeletedObject !== true;
  return [
    {
      ...place.common,
      ...rest,
      path:
        verb === 'create' ? `${place.root}/${place.collection}` : `${place.root}/${place.collection}/{name}`,
      id: `${word}${place.idPrefix}${place.scope}${kind}`,
      consumes,
      produces: OBJECT_TYPES,
      answer: answersStatus ? STATUS : schema,
      ...bodyOf(body, schema),
    },
  ];
}

function bodyOf(body: VerbRow['body'], schema: string): Pick<Operation, 'body'> {
  if (body === undefined) return {};
  if (body === 'delete options') return { body: { message: 'meta/v1.DeleteOptions', required: false } };
  return { body: { message: body === 'patch' ? 'meta/v1.Patch' : schema, required: true } };
}

function collectionOperations({ row }: Endpoint, place: Place): readonly Operation[] {
  const path = `${place.root}/${place.collection}`;
  const list: Omit<Operation, 'path' | 'id'> = {
    ...place.common,
    method: 'get',
    action: 'list',
    query: QUERY.list,
    consumes: ANY_TYPE,
    produces: LIST_TYPES,
    codes: [200],
    answer: `${row.schema}List`,
  };
  const operations: Operation[] = [];
  if (row.verbs.includes('list')) {
    operations.push({ ...list, path, id: `list${place.idPrefix}${place.scope}${row.kind}` });
    if (row.namespaced) {
      const id = `list${place.idPrefix}${row.kind}ForAllNamespaces`;
      operations.push({ ...list, path: `${place.root}/${row.resource}`, id });
    }
  }
  if (row.verbs.includes('deletecollection')) {
    operations.push({
      ...list,
      path,
      id: `delete${place.idPrefix}Collection${place.scope}${row.kind}`,
      method: 'delete',
      action: 'deletecollection',
      query: QUERY.deletecollection,
      produces: OBJECT_TYPES,
      answer: STATUS,
      ...bodyOf('delete options', row.schema),
    });
  }
  return operations;
}

/** The deprecated watch operations with separate paths. */
function watchOperations({ row }: Endpoint, place: Place): readonly Operation[] {
  if (!row.verbs.includes('watch')) return [];
  const watch: Omit<Operation, 'path' | 'id'> = {
    ...place.common,
    method: 'get',
    action: 'watchlist',
    query: QUERY.list,
    consumes: ANY_TYPE,
    produces: LIST_TYPES,
    codes: [200],
    answer: 'meta/v1.WatchEvent',
  };
  const path = `${place.root}/watch/${place.collection}`;
  const id = `watch${place.idPrefix}${place.scope}${row.kind}`;
  const all = {
    path: `${place.root}/watch/${row.resource}`,
    id: `watch${place.idPrefix}${row.kind}ListForAllNamespaces`,
  };
  return [
    { ...watch, path: `${path}/{name}`, id, action: 'watch' },
    { ...watch, path, id: `${id}List` },
    ...(row.namespaced ? [{ ...watch, ...all }] : []),
  ];
}

function subresourceOperations(
  endpoint: Endpoint,
  place: Place,
  subresource: SubresourceRow,
): readonly Operation[] {
  const { name, group, version, kind, schema } = subresource;
  const path = `${place.root}/${place.collection}/{name}/${name}`;
  const suffix = `${place.scope}${endpoint.row.kind}${pascal([name])}`;
  const common = { path, tag: place.common.tag, kind: { group, kind, version } };
  return subresource.verbs.flatMap((verb): readonly Operation[] => {
    const verbRow = VERB_ROWS.get(verb);
    if (verbRow === undefined) return [];
    const { word, body, consumes = ANY_TYPE, ...rest } = verbRow;
    if (CONNECTS.has(name)) return connects({ place, suffix, common, name }, rest.method);
    const isText = name === 'log';
    return [
      {
        ...common,
        ...rest,
        query: SUBRESOURCE_QUERY.get(name) ?? rest.query,
        id: `${word}${place.idPrefix}${suffix}`,
        consumes,
        produces: isText ? ['text/plain', ...OBJECT_TYPES] : OBJECT_TYPES,
        answer: isText ? undefined : schema,
        ...bodyOf(body, schema),
      },
    ];
  });
}

interface Connection {
  readonly place: Place;
  readonly suffix: string;
  readonly common: Pick<Operation, 'path' | 'tag' | 'kind'>;
  readonly name: string;
}

/** Returns one connect operation. A proxy supports every method and any subpath; read-only methods have the action of GET. */
function connects({ place, suffix, common, name }: Connection, method: Method): readonly Operation[] {
  const isProxy = name === 'proxy';
  const methods: readonly Method[] = isProxy && method === 'get' ? ['get', 'options', 'head'] : [method];
  const paths = isProxy ? [common.path, `${common.path}/{path}`] : [common.path];
  return methods.flatMap((each) =>
    paths.map((path, at) => ({
      ...common,
      path,
      method: each,
      action: 'connect',
      id: `connect${place.idPrefix}${pascal([each])}${suffix}${at === 0 ? '' : 'WithPath'}`,
      query: SUBRESOURCE_QUERY.get(name) ?? QUERY.none,
      codes: [200],
      consumes: ANY_TYPE,
      produces: ANY_TYPE,
      answer: undefined,
    })),
  );
}
