import { StatusError } from '../../../shared/errors/status-error';
import type { Registry } from '../registry/registry';

/** What kube-apiserver says of a path it does not know. */
export function unknownPath(): StatusError {
  return new StatusError('NotFound', 'the server could not find the requested resource', { details: {} });
}

/**
 * What is said of an unknown path below one that is known: a Status where upstream's router looks for it (`/api`, `/version`, the groups
 * that are built in); undefined where it does not.
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
