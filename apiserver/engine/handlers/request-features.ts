import { badRequest } from '../../../shared/errors/status-error';
import type { Exchange } from '../request/exchange';
import type { ListQuery } from '../registry/list-plan';
import type { AnsweredPage } from './answers';

/** What requests may ask for, and answers tell, of which each part is a feature gate of v1.21. */
export interface RequestFeatures {
  /** Lists come in pages. */
  readonly listChunking: boolean;
  /** The part of a list tells how many objects are behind it. */
  readonly remainingItemCount: boolean;
  /** Large answers are compressed for those who accept that. */
  readonly responseCompression: boolean;
  /** Writes may be rehearsed. */
  readonly dryRun: boolean;
  /** Answers warn of deprecated versions. */
  readonly warningHeaders: boolean;
  /** Discovery tells by a hash in which form a resource is stored. */
  readonly storageVersionHash: boolean;
  /** Objects and lists tell by a link where they are. */
  readonly selfLinks: boolean;
}

/** As the gates are by default. */
export const ALL_FEATURES: RequestFeatures = {
  listChunking: true,
  remainingItemCount: true,
  responseCompression: true,
  dryRun: true,
  warningHeaders: true,
  storageVersionHash: true,
  selfLinks: false,
};

/** What a list that is checked goes on with: without pages it has neither a limit nor a place to go on from. */
export function chunked(query: ListQuery, { listChunking }: RequestFeatures): ListQuery {
  return listChunking ? query : { ...query, limit: 0, continue: '' };
}

/** The page with what may be told of the rest of its list. */
export function withCount<Page extends AnsweredPage>(
  page: Page,
  { remainingItemCount }: RequestFeatures,
): Page {
  if (remainingItemCount || page.metadata.remainingItemCount === undefined) return page;
  const { remainingItemCount: _untold, ...metadata } = page.metadata;
  return { ...page, metadata };
}

/** Throws BadRequest for a write whose query asks for a rehearsal where there are none; what a body says is not looked at, as in v1.21. */
export function refuseDryRun({ info, query }: Exchange, { dryRun }: RequestFeatures): void {
  if (dryRun || !WRITES.has(info.verb) || !query.has('dryRun')) return;
  throw badRequest('the dryRun feature is disabled');
}

const WRITES: ReadonlySet<string> = new Set(['create', 'update', 'patch', 'delete', 'deletecollection']);
