import { badRequest, methodNotSupported, notFound } from '../../../shared/errors/status-error';
import type { RequestInfo } from '../request/request-info';
import { definitionTerminating } from '../registry/custom-errors';
import type { Endpoint } from '../registry/resource';
import type { Target } from './target';

/** Objects in all namespaces can only be listed and watched. */
const ACROSS_NAMESPACES: ReadonlySet<string> = new Set(['list', 'watch']);
const VERBS: ReadonlySet<string> = new Set([
  'create',
  'delete',
  'deletecollection',
  'get',
  'list',
  'patch',
  'update',
  'watch',
]);

/**
 * Whether such paths of a custom resource exist. A path of the wrong scope is as unknown as a path without a
 * resource.
 */
export function hasPlace({ row }: Endpoint, { namespace, verb }: RequestInfo): boolean {
  if (!row.namespaced) return namespace === '';
  return namespace !== '' || ACROSS_NAMESPACES.has(verb);
}

/**
 * The target of a custom resource. Throws NotFound for an unknown subresource, and MethodNotAllowed (405)
 * for an unsupported verb, with another message than for built-in resources. As upstream, segments after the
 * subresource are ignored.
 */
export function customTarget(
  endpoint: Endpoint,
  { verb, namespace, parts, subresource }: RequestInfo,
): Target {
  const { row, custom } = endpoint;
  const name = parts[1] ?? '';
  if (subresource !== '') {
    const found = endpoint.subresources.get(subresource);
    if (found === undefined) throw notFound(row, name);
    if (!found.verbs.includes(verb)) throw methodNotSupported(row, verb);
  }
  if (!VERBS.has(verb)) throw methodNotSupported(row, verb);
  if (verb === 'create' && custom?.isTerminating === true) throw definitionTerminating(row);
  // The media type of a patch is checked before.
  if (name === '' && verb === 'update') throw nameRequired();
  return { endpoint, namespace: row.namespaced ? namespace : '', name, subresource };
}

/** Custom resources have no router that detects a missing name by the path alone. */
export function nameRequired(): Error {
  return badRequest('name must be provided');
}
