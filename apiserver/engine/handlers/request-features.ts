import { badRequest } from '../../../shared/errors/status-error';
import { isOnByDefault } from '../../../shared/flags/feature-gate-table';
import type { Exchange } from '../request/exchange';
import type { ListQuery } from '../registry/list-plan';
import type { AnsweredPage } from './answers';

/** The feature gates of v1.21 for requests and responses. */
export interface RequestFeatures {
  /** APIListChunking: lists are paged. */
  readonly listChunking: boolean;
  /** RemainingItemCount: a page has the number of objects after it. */
  readonly remainingItemCount: boolean;
  /** APIResponseCompression: large responses are compressed if the client accepts it. */
  readonly responseCompression: boolean;
  /** DryRun. */
  readonly dryRun: boolean;
  /** WarningHeaders: responses warn of deprecated versions. */
  readonly warningHeaders: boolean;
  /** StorageVersionHash: discovery has a hash of the storage version. */
  readonly storageVersionHash: boolean;
  /** AggregatedDiscoveryEndpoint: one document lists the resources of all groups. */
  readonly aggregatedDiscovery: boolean;
  /** That document is also there in version v2beta1; false with AggregatedDiscoveryRemoveBetaType. */
  readonly aggregatedDiscoveryBeta: boolean;
  /** Objects and lists have a selfLink. */
  readonly selfLinks: boolean;
}

/** The defaults of the gates at the API level of this process. */
export const ALL_FEATURES: RequestFeatures = {
  listChunking: true,
  remainingItemCount: true,
  responseCompression: true,
  dryRun: true,
  warningHeaders: true,
  storageVersionHash: true,
  aggregatedDiscovery: isOnByDefault('AggregatedDiscoveryEndpoint'),
  aggregatedDiscoveryBeta: !isOnByDefault('AggregatedDiscoveryRemoveBetaType'),
  selfLinks: false,
};

/** The options of a list after validation: without paging there is neither a limit nor a continue token. */
export function chunked(query: ListQuery, { listChunking }: RequestFeatures): ListQuery {
  return listChunking ? query : { ...query, limit: 0, continue: '' };
}

/** The page, with remainingItemCount if the gate is on. */
export function withCount<Page extends AnsweredPage>(
  page: Page,
  { remainingItemCount }: RequestFeatures,
): Page {
  if (remainingItemCount || page.metadata.remainingItemCount === undefined) return page;
  const { remainingItemCount: _untold, ...metadata } = page.metadata;
  return { ...page, metadata };
}

/** Throws BadRequest for dryRun in the query if the gate is off; as in v1.21, the body is not checked. */
export function refuseDryRun({ info, query }: Exchange, { dryRun }: RequestFeatures): void {
  if (dryRun || !WRITES.has(info.verb) || !query.has('dryRun')) return;
  throw badRequest('the dryRun feature is disabled');
}

const WRITES: ReadonlySet<string> = new Set(['create', 'update', 'patch', 'delete', 'deletecollection']);
