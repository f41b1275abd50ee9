import type { Controller } from './controller';
import { runGarbageCollector } from './garbage-collector/garbage-collector';
import { runNamespaceController } from './namespace/namespace-controller';
import { runRootCaPublisher } from './namespace-objects/root-ca-publisher';
import { runServiceAccounts } from './namespace-objects/service-accounts';
import { runClaimProtection } from './volume-protection/claim-protection';
import { runVolumeProtection } from './volume-protection/volume-protection';

/** Every controller there is. */
export const CONTROLLERS: readonly Controller[] = [
  { name: 'namespace', run: runNamespaceController },
  { name: 'garbagecollector', run: runGarbageCollector },
  { name: 'serviceaccount', run: runServiceAccounts },
  { name: 'root-ca-cert-publisher', run: runRootCaPublisher },
  { name: 'pvc-protection', run: runClaimProtection },
  { name: 'pv-protection', run: runVolumeProtection },
];

/**
 * The controllers that `--controllers` asks for: `name` switches one on, `-name` off, `*` on all that are not named. A name that
 * nobody has is returned as an error text.
 */
export function selectControllers(
  words: readonly string[],
  controllers: readonly Controller[] = CONTROLLERS,
): { readonly selected: readonly Controller[]; readonly unknown: readonly string[] } {
  const names = new Set(controllers.map(({ name }) => name));
  return {
    selected: controllers.filter(
      ({ name }) => words.includes(name) || (words.includes('*') && !words.includes(`-${name}`)),
    ),
    unknown: words.filter((word) => word !== '*' && !names.has(word.replace(/^-/, ''))),
  };
}
