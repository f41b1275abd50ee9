import type { Strategy } from '../strategy';
import { storageVersionRules } from '../validation/storage-versions';

/** apiserverinternal. */
export const apiserverinternal: Readonly<Record<string, Strategy>> = {
  storageversions: { statusLeavesMetadata: true, requiresResourceVersion: true, ...storageVersionRules },
};
