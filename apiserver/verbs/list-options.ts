import type { ListQuery } from '../registry/list-plan';
import { intParameter } from './query';

/** The parameters of a list, a watch or a deletion of a collection that say from which state, and how much of it. Throws BadRequest. */
export function listQueryOf(query: URLSearchParams): ListQuery {
  return {
    resourceVersion: query.get('resourceVersion') ?? '',
    resourceVersionMatch: query.get('resourceVersionMatch') ?? '',
    limit: intParameter(query, 'limit') ?? 0,
    continue: query.get('continue') ?? '',
  };
}
