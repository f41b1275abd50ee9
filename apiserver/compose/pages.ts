import type { Build } from '../../shared/build';
import type { VerbContext } from '../engine/handlers/context';
import type { Answer, Exchange } from '../engine/request/exchange';
import type { PageRoutes } from '../engine/server/page-router';
import { createPageRouter, routePage } from '../engine/server/page-router';
import { confirmedRegistry } from '../kubernetes/discovery/confirmed-registry';
import { createDiscoveryRouter } from '../kubernetes/discovery/discovery';
import { answerUnknownPath, createIndexRouter } from '../kubernetes/discovery/paths';
import { createVersionRouter } from '../kubernetes/discovery/version';
import type { OtherVersion } from '../kubernetes/discovery/aggregated/discovered-version';
import { DEFAULT_KIND_SETTINGS } from '../engine/registry/strategy';
import { isOn } from '../kubernetes/kinds/field-gates';
import { createOpenApiRouter } from '../kubernetes/openapi/openapi';
import type { Aggregation } from './aggregation';

/** One list for all requests, because documents are made again for another one. */
const NONE: readonly OtherVersion[] = [];

export interface PagesParts {
  /** The routes of health checks, metrics, debug pages, backups and token issuer. */
  readonly pages: readonly PageRoutes[];
  readonly verbs: VerbContext;
  /** Absent without an aggregation layer. */
  readonly aggregation?: Pick<Aggregation, 'aggregator' | 'documents' | 'discovery'>;
  /** Returns the `host:port` at which clients reach this server. */
  readonly serverAddress: () => string;
  readonly build: Build;
}

/**
 * Mounts the routers of all pages outside the resource paths. The result answers every path, an unknown one with 404. It runs as the last
 * stage of the pipeline, after authentication, fairness and authorization.
 */
export function createPages(parts: PagesParts): (exchange: Exchange) => Promise<Answer> {
  const { verbs, aggregation, serverAddress, build } = parts;
  const openApi = createOpenApiRouter(
    {
      version: build.version,
      ...(build.treeState === 'clean' ? { commit: build.commit } : {}),
      serverSideApply: verbs.store.serverSideApply,
      enums: isOn(verbs.store.kindSettings ?? DEFAULT_KIND_SETTINGS, 'OpenAPIEnums'),
    },
    aggregation && (() => aggregation.documents.current()),
  );
  const listed = [createVersionRouter(build), ...parts.pages, openApi];
  const otherPaths = listed.flatMap(({ paths }) => paths);
  const discovery = createDiscoveryRouter(() => ({
    serverAddress: serverAddress(),
    aggregated: aggregation?.aggregator.services.all() ?? [],
    discovered: aggregation?.discovery.current() ?? NONE,
    features: verbs.features,
  }));
  const root = createPageRouter();
  for (const { router } of [createIndexRouter(otherPaths), ...listed, discovery]) root.use(router);
  return async (exchange) => {
    const registry = await confirmedRegistry(verbs, exchange.path, exchange.signal);
    const request = { exchange, registry };
    return (await routePage(root, request)) ?? answerUnknownPath(request, otherPaths);
  };
}
