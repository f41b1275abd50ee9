import type { RequestInfo } from './request-info';

const VERBS: ReadonlySet<string> = new Set(['watch', 'proxy']);
const SUBRESOURCES: ReadonlySet<string> = new Set(['attach', 'exec', 'log', 'portforward', 'proxy']);

/** Requests whose answer goes on for as long as the client wants: they have no deadline, and an audit event when they begin. */
export function isLongRunning({ isResourceRequest, verb, subresource }: RequestInfo): boolean {
  return isResourceRequest && (VERBS.has(verb) || SUBRESOURCES.has(subresource));
}
