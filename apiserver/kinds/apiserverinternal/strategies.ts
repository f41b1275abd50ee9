import type { Strategy } from '../../registry/strategy';
import { storageVersionRules } from './storage-versions-rules';

/** apiserverinternal. */
export const apiserverinternal: Readonly<Record<string, Strategy>> = {
  storageversions: { statusLeavesMetadata: true, requiresResourceVersion: true, ...storageVersionRules },
};
