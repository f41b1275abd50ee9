import { GROUP, KUBERNETES_PROTOBUF, MEDIA_TYPE } from '../../../shared/names';
import type { Document } from '../../engine/encoding/document';
import { documentAnswer } from '../../engine/encoding/document';
import { refuseUnrouted } from '../../engine/encoding/routing';
import type { Answer, Exchange } from '../../engine/request/exchange';
import type { Registry } from '../../engine/registry/registry';
import { methodNotAllowed } from '../../engine/handlers/target';
import type { PageRoutes } from '../../engine/server/page-router';
import { createPageRouter, page } from '../../engine/server/page-router';
import type { RequestFeatures } from '../../engine/handlers/request-features';
import type { OtherVersion } from './aggregated/discovered-version';
import { createGroupLists } from './aggregated/group-list';
import type { AggregatedVersion } from './group-order';
import { apiGroup, apiGroupList, apiResourceList, apiVersions } from './documents';

/** Input of the documents besides the registry. */
export interface DiscoveryParts {
  readonly serverAddress: string;
  /** Group versions of extension API servers. */
  readonly aggregated: readonly AggregatedVersion[];
  /** What extension API servers list of them. */
  readonly discovered: readonly OtherVersion[];
  readonly features: Pick<
    RequestFeatures,
    'responseCompression' | 'storageVersionHash' | 'aggregatedDiscovery' | 'aggregatedDiscoveryBeta'
  >;
}

/** Creates the routes of `/api`, `/apis` and the discovery documents below them. */
export function createDiscoveryRouter(parts: () => DiscoveryParts): PageRoutes {
  const router = createPageRouter();
  const answerList = createGroupLists();
  router.use(
    ['/api', '/apis'],
    page(({ exchange, registry }) => answerDiscovery({ registry, ...parts(), answerList }, exchange)),
  );
  // The index of paths lists them by the registry.
  return { router, paths: [] };
}

async function answerDiscovery(
  {
    registry,
    answerList,
    ...parts
  }: DiscoveryParts & {
    readonly registry: Registry;
    readonly answerList: ReturnType<typeof createGroupLists>;
  },
  exchange: Exchange,
): Promise<Answer | undefined> {
  const document = documentAt(registry, parts, exchange.path);
  if (document === undefined) return undefined;
  if (isRouted(registry, exchange.path)) {
    if (exchange.method !== 'GET') throw methodNotAllowed();
    const isTyped = (exchange.headers['content-type'] ?? '') !== '';
    refuseUnrouted(exchange, isTyped ? { consumes: READ } : {});
  }
  const { discovered: others, features } = parts;
  exchange.isCompressible = features.responseCompression;
  const [root = '', first = ''] = segmentsOf(exchange.path);
  if (first === '' && (root === 'api' || root === 'apis')) {
    const list = await answerList({ exchange, registry, root, others, features });
    if (list !== undefined) return list;
  }
  return documentAnswer(exchange, 200, document as Document);
}

/** Upstream's routes of these documents declare media types, although requests have no body. */
const READ: readonly string[] = [MEDIA_TYPE.json, MEDIA_TYPE.yaml, MEDIA_TYPE.protobuf, KUBERNETES_PROTOBUF];

/** Any number of trailing slashes is ignored. */
function segmentsOf(path: string): readonly string[] {
  const segments = path.split('/').slice(1);
  while (segments.length > 1 && segments.at(-1) === '') segments.pop();
  return segments;
}

/**
 * Returns whether upstream has a route for the document, which checks method and media types first. `/apis`, groups, and versions with
 * only custom resources have none. The group apiregistration has one, because upstream's aggregator serves it itself.
 */
function isRouted(registry: Registry, path: string): boolean {
  const [prefix, group = '', version = ''] = segmentsOf(path);
  if (prefix !== 'apis') return true;
  if (version === '') return group === GROUP.apiregistration;
  return registry.endpointsOf(group, version).some(({ custom }) => custom === undefined);
}

function documentAt(
  registry: Registry,
  { serverAddress, aggregated, features }: DiscoveryParts,
  path: string,
): object | undefined {
  // Two slashes would name a group with an empty name.
  if (path === '/apis//') return undefined;
  const [prefix, first = '', second = '', ...more] = segmentsOf(path);
  const resourcesOf = (group: string, version: string): object | undefined =>
    apiResourceList(registry, { group, version, isHashed: features.storageVersionHash });
  if (more.length > 0 || (first === '' && second !== '')) return undefined;
  if (prefix === 'api' && second === '') {
    return first === '' ? apiVersions(registry, serverAddress) : resourcesOf('', first);
  }
  if (prefix !== 'apis') return undefined;
  if (first === '') return apiGroupList(registry, aggregated);
  return second === '' ? apiGroup(registry, first, aggregated) : resourcesOf(first, second);
}
