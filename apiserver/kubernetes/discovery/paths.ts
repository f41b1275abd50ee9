import { GROUP, STORE_CHECK } from '../../../shared/names';
import { apiVersionOf } from '../../../shared/object/object';
import type { Registry } from '../../engine/registry/registry';

/** `/`: every path that answers, for people and for `kubectl get --raw /`. `others` are the paths that are no API. */
export function pathsDocument(
  registry: Registry,
  others: readonly string[],
): { readonly paths: readonly string[] } {
  const api = registry.groups.flatMap(({ group, versions }) =>
    group === ''
      ? ['/api', ...versions.map((version) => `/api/${version}`)]
      : [`/apis/${group}`, ...versions.map((version) => `/apis/${apiVersionOf({ group, version })}`)],
  );
  return { paths: ['/apis', '/apis/', ...api, ...others].toSorted() };
}

/**
 * What a path that nobody knows is answered with: those of the last server that upstream asks, of definitions and of health (ADR 70).
 */
export function unknownPathDocument(
  registry: Registry,
  others: readonly string[],
): { readonly paths: readonly string[] } {
  const { paths } = pathsDocument(registry, others);
  return { paths: paths.filter(isOfLastServer) };
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
