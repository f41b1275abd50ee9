import type { ListQuery } from '../registry/list-plan';
import { intParameter, optionalBoolParameter } from './query';

/**
 * Parses the parameters of a list, a watch or a deletion of a collection, without the selectors. Throws
 * BadRequest for an invalid number; of several, for the one that upstream parses first.
 */
export function listQueryOf(query: URLSearchParams): ListQuery {
  return {
    resourceVersion: query.get('resourceVersion') ?? '',
    resourceVersionMatch: query.get('resourceVersionMatch') ?? '',
    timeoutSeconds: intParameter(query, 'timeoutSeconds'),
    limit: intParameter(query, 'limit') ?? 0,
    continue: query.get('continue') ?? '',
    sendInitialEvents: optionalBoolParameter(query, 'sendInitialEvents'),
  };
}
