import { exactField, parseFieldSelector } from '../../../shared/meta/fields';
import { boolParameter } from './bool-parameter';
import { ownKeyMap } from '../../../shared/own-key-map';

/**
 * The resource and verb of a request. The rules are those of RequestInfoFactory in kube-apiserver v1.21
 * (apiserver/pkg/endpoints/request); the tests next to this file state them.
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
  /** The name in the path; for a list or watch, the single name that `metadata.name=` selects. */
  readonly name: string;
  /** The decoded segments after the version: `namespaces`, `default`, `pods`, `web`, `log`. */
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

/** Segments before the resource: `/api/{version}`, `/apis/{group}/{version}`. */
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
  // As in Go, the path is decoded before it is split. An empty segment in the middle is kept: no resource has an empty
  // name.
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
const NAME_FIELD = 'metadata.name';
const TERMS_MAX = 100;
const NO_SEGMENT = /^\.{1,2}$|[/%]/;

/**
 * Returns the name in the path; for a list or watch, the name in `metadata.name=` if it is a valid path segment:
 * users who may read an object by name may also list and watch it by name.
 */
function nameOf(
  asked: { readonly special: string | undefined; readonly verb: string; readonly name: string },
  query: URLSearchParams,
): string {
  if (asked.special !== undefined || !COLLECTION_READS.has(asked.verb)) return asked.name;
  const text = query.get('fieldSelector');
  if (text === null || !text.includes(NAME_FIELD) || hasManyTerms(text)) return '';
  try {
    const name = exactField(parseFieldSelector(text), NAME_FIELD) ?? '';
    return NO_SEGMENT.test(name) ? '' : name;
  } catch {
    // The verb reports the error, after authorization of the whole list.
    return '';
  }
}

/**
 * Returns whether a selector has so many terms that parsing it before authorization costs too much. Its request is one
 * for the whole list then, which requires more permissions.
 */
function hasManyTerms(selector: string): boolean {
  let terms = 1;
  for (let at = selector.indexOf(','); at >= 0 && terms <= TERMS_MAX; terms += 1)
    at = selector.indexOf(',', at + 1);
  return terms > TERMS_MAX;
}

/** Decodes a path; nearly none has percent-encoding. */
function decoded(path: string): string {
  return path.includes('%') ? decodeURIComponent(path) : path;
}

/**
 * Trims slashes. A regular expression takes quadratic time for a long run of slashes, and this runs before
 * authentication.
 */
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

/**
 * Finds the namespace: `/namespaces/{ns}/{resource}/…` is inside it, unless the third part is a subresource of the
 * Namespace itself.
 */
function locate(rest: readonly string[]): Position {
  if (rest[0] !== 'namespaces') return { namespace: '', parts: rest };
  const namespace = rest[1] ?? '';
  if (rest.length > 2 && !NAMESPACE_SUBRESOURCES.has(rest[2] ?? ''))
    return { namespace, parts: rest.slice(2) };
  return { namespace, parts: rest };
}

/** Creates the info of a non-resource path. */
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
