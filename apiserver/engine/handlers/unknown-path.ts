import { StatusError } from '../../../shared/errors/status-error';
import type { Registry } from '../registry/registry';

/** The error of kube-apiserver for an unknown path. */
export function unknownPath(): StatusError {
  return new StatusError('NotFound', 'the server could not find the requested resource', { details: {} });
}

/**
 * The error for an unknown path below a known one: a Status where the router of upstream has it (`/api`,
 * `/version`, built-in groups); undefined elsewhere.
 */
export function unknownBelow(registry: Registry, path: string): StatusError | undefined {
  const [prefix = '', group = ''] = path.split('/').slice(1);
  const isGroup = registry.groups.some((each) => {
    const [version = ''] = each.versions;
    return each.group === group && registry.endpointsOf(group, version)[0]?.custom === undefined;
  });
  if (prefix === 'api' || prefix === 'version' || (prefix === 'apis' && group !== '' && isGroup)) {
    return unknownPath();
  }
  return undefined;
}
