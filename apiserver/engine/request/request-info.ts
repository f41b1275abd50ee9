import { exactField, parseFieldSelector } from '../../../shared/meta/fields';
import { boolParameter } from './bool-parameter';
import { ownKeyMap } from '../../../shared/own-key-map';

/**
 * What a path asks for. The rules are those of kube-apiserver v1.21's RequestInfoFactory (apiserver/pkg/endpoints/request), stated
 * by the tests beside this file.
 */
export interface RequestInfo {
  readonly isResourceRequest: boolean;
  /** The path as received. */
  readonly path: string;
  /** For resources: get, list, watch, create, update, patch, delete, deletecollection, proxy. Else the lower-cased method. */
  readonly verb: string;
  /** `watch` or `proxy` for the deprecated paths that begin with it, else empty. */
  readonly leadingVerb: string;
  readonly apiGroup: string;
  readonly apiVersion: string;
  /** Empty for cluster scope and for lists across namespaces. For a Namespace itself: its own name. */
  readonly namespace: string;
  readonly resource: string;
  readonly subresource: string;
  /** Of the object in the path; else the one name that a list or watch selects by `metadata.name=`. */
  readonly name: string;
  /** The decoded segments behind the version: `namespaces`, `default`, `pods`, `web`, `log`. */
  readonly parts: readonly string[];
}

const NAMESPACE_SUBRESOURCES = new Set(['status', 'finalize']);
const VERB_OF_METHOD = ownKeyMap<string>({
  GET: 'get',
  HEAD: 'get',
  POST: 'create',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
});

/** How many segments stand before the resource: `/api/{version}`, `/apis/{group}/{version}`. */
const HEAD_LENGTH_OF_PREFIX: ReadonlyMap<string, number> = new Map([
  ['api', 2],
  ['apis', 3],
]);
/** The deprecated forms `/api/v1/watch/…` and `/api/v1/proxy/…`. */
const SPECIAL_VERBS: ReadonlySet<string> = new Set(['watch', 'proxy']);

interface Position {
  readonly namespace: string;
  readonly parts: readonly string[];
}

/** Throws URIError for a path whose percent-encoding is broken. */
export function parseRequestInfo(method: string, path: string, query: URLSearchParams): RequestInfo {
  // As in Go, the path is decoded before it is split. An empty segment in the middle stays: it names nothing, so that nothing is found there.
  const trimmed = withoutSlashesAround(decoded(path));
  const segments = trimmed === '' ? [] : trimmed.split('/');
  const apiPrefix = segments[0] ?? '';
  const headLength = HEAD_LENGTH_OF_PREFIX.get(apiPrefix) ?? segments.length;
  if (segments.length <= headLength) return nonResource({ path, verb: method.toLowerCase() });

  const special = SPECIAL_VERBS.has(segments[headLength] ?? '') ? segments[headLength] : undefined;
  const rest = segments.slice(special === undefined ? headLength : headLength + 1);
  if (rest.length === 0) return nonResource({ path, verb: method.toLowerCase() });
  const { namespace, parts } = locate(rest);
  const [resource = '', name = '', third = ''] = parts;
  const subresource = special === 'proxy' ? '' : third;
  const verb = verbOf(method, { name, watch: boolParameter(query, 'watch') });
  return {
    isResourceRequest: true,
    path,
    verb: special ?? verb,
    leadingVerb: special ?? '',
    apiGroup: apiPrefix === 'api' ? '' : (segments[1] ?? ''),
    apiVersion: segments[headLength - 1] ?? '',
    namespace,
    resource,
    subresource,
    name: nameOf({ special, verb, name }, query),
    parts,
  };
}

const COLLECTION_READS: ReadonlySet<string> = new Set(['list', 'watch']);
const NO_SEGMENT = /^\.{1,2}$|[/%]/;

/**
 * The name in the path; for a list or a watch the one that `metadata.name=` asks for, if it could stand in a path: who may read the object
 * by its name may list and watch it so.
 */
function nameOf(
  asked: { readonly special: string | undefined; readonly verb: string; readonly name: string },
  query: URLSearchParams,
): string {
  if (asked.special !== undefined || !COLLECTION_READS.has(asked.verb)) return asked.name;
  const text = query.get('fieldSelector');
  if (text === null || text === '') return '';
  try {
    const name = exactField(parseFieldSelector(text), 'metadata.name') ?? '';
    return NO_SEGMENT.test(name) ? '' : name;
  } catch {
    // The verb says what is wrong with it, to whoever may list everything.
    return '';
  }
}

/** Nearly no path has anything to decode. */
function decoded(path: string): string {
  return path.includes('%') ? decodeURIComponent(path) : path;
}

/** By hand: a regular expression takes time in the square of a long run of slashes, and nobody is authenticated yet. */
function withoutSlashesAround(path: string): string {
  let from = 0;
  let to = path.length;
  while (from < to && path[from] === '/') from += 1;
  while (to > from && path[to - 1] === '/') to -= 1;
  return path.slice(from, to);
}

function verbOf(method: string, target: { readonly name: string; readonly watch: boolean }): string {
  const verb = VERB_OF_METHOD.get(method) ?? '';
  if (target.name !== '') return verb;
  if (verb === 'get') return target.watch ? 'watch' : 'list';
  return verb === 'delete' ? 'deletecollection' : verb;
}

/** `/namespaces/{ns}/{resource}/…` is a place inside a namespace, unless the third part is a subresource of the Namespace itself. */
function locate(rest: readonly string[]): Position {
  if (rest[0] !== 'namespaces') return { namespace: '', parts: rest };
  const namespace = rest[1] ?? '';
  if (rest.length > 2 && !NAMESPACE_SUBRESOURCES.has(rest[2] ?? ''))
    return { namespace, parts: rest.slice(2) };
  return { namespace, parts: rest };
}

/** Of a path that is no resource. */
export function nonResource({ path, verb }: Pick<RequestInfo, 'path' | 'verb'>): RequestInfo {
  return {
    isResourceRequest: false,
    path,
    verb,
    leadingVerb: '',
    apiGroup: '',
    apiVersion: '',
    namespace: '',
    resource: '',
    subresource: '',
    name: '',
    parts: [],
  };
}
