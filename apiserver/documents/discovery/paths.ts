import { apiVersionOf } from '../../../shared/object/object';
import type { Registry } from '../../registry/registry';

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
  return { paths: ['/apis', ...api, ...others].toSorted() };
}
