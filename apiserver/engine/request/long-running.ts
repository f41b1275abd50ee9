import { STORE_BACKUP_PATH } from '../../../shared/files/store-backup';
import type { RequestInfo } from './request-info';

const VERBS: ReadonlySet<string> = new Set(['watch', 'proxy']);
const SUBRESOURCES: ReadonlySet<string> = new Set(['attach', 'exec', 'log', 'portforward', 'proxy']);

/** The path prefix of profiles. */
export const PROFILING_PATH = '/debug/pprof/';

/**
 * Returns whether the client decides how long the answer takes: such requests have no deadline, and an audit event
 * when they start.
 */
export function isLongRunning({ isResourceRequest, path, verb, subresource }: RequestInfo): boolean {
  if (!isResourceRequest) return path.startsWith(PROFILING_PATH) || path === STORE_BACKUP_PATH;
  return VERBS.has(verb) || SUBRESOURCES.has(subresource);
}
