import { createRegistry } from '../../registry/registry';
import type { Answer, Exchange } from '../../request/exchange';
import type { PageRoutes } from '../page-router';
import { routePage } from '../page-router';

/** Routes the request to the pages of one subject, without a registry. Resolves with undefined if no route matches. */
export async function getPage({ router }: PageRoutes, exchange: Exchange): Promise<Answer | undefined> {
  return routePage(router, { exchange, registry: createRegistry([], 0) });
}
