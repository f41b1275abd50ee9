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
  /** `api`, `apis`, or empty for a path that is no resource. */
  readonly apiPrefix: string;
  readonly apiGroup: string;
  readonly apiVersion: string;
  /** Empty for cluster scope and for lists across namespaces. For a Namespace itself: its own name. */
  readonly namespace: string;
  readonly resource: string;
  readonly subresource: string;
  readonly name: string;
  /** The decoded segments behind the version: `namespaces`, `default`, `pods`, `web`, `log`. */
  readonly parts: readonly string[];
}

const NAMESPACE_SUBRESOURCES = new Set(['status', 'finalize']);
const VERB_OF_METHOD: Readonly<Record<string, string>> = {
  GET: 'get',
  HEAD: 'get',
  POST: 'create',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
};

interface Position {
  readonly namespace: string;
  readonly parts: readonly string[];
}

/** Throws URIError for a path whose percent-encoding is broken. */
export function parseRequestInfo(method: string, path: string, query: URLSearchParams): RequestInfo {
  const segments = path.split('/').filter((segment) => segment !== '');
  const decoded = segments.map((segment) => decodeURIComponent(segment));
  const apiPrefix = decoded[0] ?? '';
  const headLength = apiPrefix === 'api' ? 2 : apiPrefix === 'apis' ? 3 : 0;
  if (headLength === 0 || decoded.length <= headLength) return nonResource(method, path);
  const apiGroup = apiPrefix === 'api' ? '' : (decoded[1] ?? '');
  const apiVersion = decoded[headLength - 1] ?? '';

  let rest = decoded.slice(headLength);
  let verb = VERB_OF_METHOD[method] ?? '';
  if (rest[0] === 'watch' || rest[0] === 'proxy') {
    if (rest.length < 2) return nonResource(method, path);
    verb = rest[0];
    rest = rest.slice(1);
  }
  const { namespace, parts } = locate(rest);
  const resource = parts[0] ?? '';
  const name = parts[1] ?? '';
  const subresource = verb === 'proxy' ? '' : (parts[2] ?? '');
  if (name === '' && verb === 'get') verb = wantsWatch(query) ? 'watch' : 'list';
  else if (verb === 'get' && wantsWatch(query) && subresource === '') verb = 'watch';
  else if (name === '' && verb === 'delete') verb = 'deletecollection';
  return {
    isResourceRequest: true,
    path,
    verb,
    apiPrefix,
    apiGroup,
    apiVersion,
    namespace,
    resource,
    subresource,
    name,
    parts,
  };
}

/** `/namespaces/{ns}/{resource}/…` is a place inside a namespace, unless the third part is a subresource of the Namespace itself. */
function locate(rest: readonly string[]): Position {
  if (rest[0] !== 'namespaces') return { namespace: '', parts: rest };
  const namespace = rest[1] ?? '';
  if (rest.length > 2 && !NAMESPACE_SUBRESOURCES.has(rest[2] ?? ''))
    return { namespace, parts: rest.slice(2) };
  return { namespace, parts: rest };
}

/** `watch` counts as true for everything but an absent value, `false` and `0` (Go's conversion of a query value to bool). */
export function wantsWatch(query: URLSearchParams): boolean {
  const value = query.get('watch');
  return value !== null && value.toLowerCase() !== 'false' && value !== '0';
}

function nonResource(method: string, path: string): RequestInfo {
  return {
    isResourceRequest: false,
    path,
    verb: method.toLowerCase(),
    apiPrefix: '',
    apiGroup: '',
    apiVersion: '',
    namespace: '',
    resource: '',
    subresource: '',
    name: '',
    parts: [],
  };
}
