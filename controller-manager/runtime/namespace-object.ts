import type { ApiObject, GroupVersionResource } from '../../shared/object/object';
import { GROUP } from '../../shared/names';

export const NAMESPACES: GroupVersionResource = { group: GROUP.core, version: 'v1', resource: 'namespaces' };

export interface NamespaceCondition {
  readonly type: string;
  readonly status: string;
  readonly lastTransitionTime?: string;
  readonly reason?: string;
  readonly message?: string;
}

/** A v1 Namespace as far as its deletion is concerned. */
export interface Namespace extends ApiObject {
  readonly spec?: { readonly finalizers?: readonly string[] };
  readonly status?: { readonly phase?: string; readonly conditions?: readonly NamespaceCondition[] };
}

export function isTerminating({ metadata }: ApiObject): boolean {
  return metadata.deletionTimestamp !== undefined && metadata.deletionTimestamp !== null;
}
