import type { StartHook, StartHooks } from '../kubernetes/bootstrap/start-hooks';
import { createStartHooks } from '../kubernetes/bootstrap/start-hooks';
import type { ServerOptions } from './options/server-options';

type StartOptions = Pick<ServerOptions, 'flow' | 'identity' | 'featureGates'>;

/** Returns the start hooks of a replica with these options. */
export function startHooksOf({ flow, identity, featureGates }: StartOptions): StartHooks {
  const absent: readonly StartHook[] = [
    ...(flow.isFair ? [] : (['flowConfigurationConsumer', 'flowFilter'] as const)),
    ...(identity === undefined ? (['identityLease', 'expiredIdentities'] as const) : []),
    ...(identity === undefined || !featureGates.StorageVersionAPI ? (['storageVersions'] as const) : []),
  ];
  return createStartHooks(absent);
}
