import type { History } from '../record/history';
import type { Finding } from './finding';

/** At no revision do two Services have the same address or node port. */
export function checkAddresses({ changes }: History): readonly Finding[] {
  const findings: Finding[] = [];
  const holders = new Map<string, string>();
  const held = new Map<string, readonly string[]>();
  for (const { resource, key, object, revision } of changes) {
    if (resource !== 'services') continue;
    for (const address of held.get(key) ?? []) if (holders.get(address) === key) holders.delete(address);
    const addresses = object?.addresses ?? [];
    held.set(key, addresses);
    for (const address of addresses) {
      const other = holders.get(address);
      if (other !== undefined) {
        const text = `${address} was given to ${key} at ${String(revision)} while ${other} held it`;
        findings.push({ check: 'addresses given once', text });
      }
      holders.set(address, key);
    }
  }
  return findings;
}

/** The limit of a resource in a namespace. */
export interface QuotaLimit {
  readonly resource: string;
  readonly namespace: string;
  readonly hard: number;
}

/** At no revision are there more objects than the quota allows. `limits` apply from the first revision. */
export function checkQuota({ changes }: History, limits: readonly QuotaLimit[]): readonly Finding[] {
  return limits.flatMap(({ resource, namespace, hard }) => {
    const present = new Set<string>();
    const findings: Finding[] = [];
    for (const change of changes) {
      if (change.resource !== resource || change.namespace !== namespace) continue;
      if (change.object === undefined) present.delete(change.key);
      else if (!present.has(change.key)) {
        present.add(change.key);
        if (present.size > hard) {
          const text = `${namespace} holds ${String(present.size)} ${resource} at ${String(change.revision)}, its quota is ${String(hard)}`;
          findings.push({ check: 'quota kept', text });
        }
      }
    }
    return findings;
  });
}
