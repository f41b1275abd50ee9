import { GROUP, MEDIA_TYPE, STORE_CHECK } from '../../../shared/names';
import { apiVersionOf } from '../../../shared/object/object';
import { pageNotFound } from '../../engine/handlers/answers';
import { unknownBelow } from '../../engine/handlers/target';
import type { Registry } from '../../engine/registry/registry';
import type { Answer } from '../../engine/request/exchange';
import type { PageRequest, PageRoutes } from '../../engine/server/page-router';
import { createPageRouter, page } from '../../engine/server/page-router';

/** Creates the route of the index of paths: `/` lists every path that has an answer, for people and for `kubectl get --raw /`. */
export function createIndexRouter(otherPaths: readonly string[]): PageRoutes {
  const router = createPageRouter();
  router.all(
    ['/', '/index.html'],
    page(({ registry }) => pathsAnswer(200, allPaths(registry, otherPaths))),
  );
  return { router, paths: [] };
}

/**
 * Returns the answer to a path without a page: 404 with the paths of upstream's last delegate (ADR 70). Groups that are not built in are
 * answered in plain text. Throws NotFound (404) below paths that upstream routes.
 */
export function answerUnknownPath(
  { registry, exchange: { path } }: PageRequest,
  otherPaths: readonly string[],
): Answer {
  const unknown = unknownBelow(registry, path);
  if (unknown !== undefined) throw unknown;
  if (path.startsWith('/apis/')) return pageNotFound();
  return pathsAnswer(404, allPaths(registry, otherPaths).filter(isOfLastServer));
}

/** `otherPaths` are those of pages, the rest comes from the registry. */
function allPaths(registry: Registry, otherPaths: readonly string[]): readonly string[] {
  const api = registry.groups.flatMap(({ group, versions }) =>
    group === ''
      ? ['/api', ...versions.map((version) => `/api/${version}`)]
      : [`/apis/${group}`, ...versions.map((version) => `/apis/${apiVersionOf({ group, version })}`)],
  );
  return ['/apis', '/apis/', ...api, ...otherPaths].toSorted();
}

/** Indented JSON for every client, without kind. */
function pathsAnswer(code: number, paths: readonly string[]): Answer {
  return {
    code,
    headers: { 'Content-Type': MEDIA_TYPE.json },
    body: Buffer.from(JSON.stringify({ paths }, null, 2)),
  };
}

function isOfLastServer(path: string): boolean {
  const [, root = '', ...more] = path.split('/');
  const rest = more.join('/');
  if (root === 'apis') return rest === '' || rest.split('/')[0] === GROUP.apiextensions;
  if (HEALTH_ROOTS.has(root)) return rest === '' || CHECKS.has(rest);
  return path === '/metrics' || path === '/openapi/v2' || path === '/version';
}

const HEALTH_ROOTS: ReadonlySet<string> = new Set(['healthz', 'livez', 'readyz']);

const CHECKS: ReadonlySet<string> = new Set([
  'ping',
  'log',
  STORE_CHECK,
  'informer-sync',
  'shutdown',
  'poststarthook/crd-informer-synced',
  'poststarthook/generic-apiserver-start-informers',
  'poststarthook/priority-and-fairness-config-consumer',
  'poststarthook/priority-and-fairness-filter',
  'poststarthook/start-apiextensions-controllers',
  'poststarthook/start-apiextensions-informers',
]);
