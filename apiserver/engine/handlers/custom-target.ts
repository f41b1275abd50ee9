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

/** Whether a custom resource has such paths at all. A path of the wrong scope is as unknown as one of no resource. */
export function hasPlace({ row }: Endpoint, { namespace, verb }: RequestInfo): boolean {
  if (!row.namespaced) return namespace === '';
  return namespace !== '' || ACROSS_NAMESPACES.has(verb);
}

/**
 * What the path of a custom resource asks for. Throws NotFound for a subresource that there is not, and MethodNotAllowed (405) for a verb
 * that the place does not know, which upstream answers in other words than for built-in resources. As
 * there, what follows the subresource is not looked at.
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
  // A patch is asked for its type before.
  if (name === '' && verb === 'update') throw nameRequired();
  return { endpoint, namespace: row.namespaced ? namespace : '', name, subresource };
}

/** A custom resource has no router that knows by the path alone that a name is missing. */
export function nameRequired(): Error {
  return badRequest('name must be provided');
}
