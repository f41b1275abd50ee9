import type { Namespace } from '../../shared/api/types/core-v1';
import type { ResourceOf } from '../../shared/object/object';
import { GROUP } from '../../shared/names';

export const NAMESPACES: ResourceOf<Namespace> = { group: GROUP.core, version: 'v1', resource: 'namespaces' };

export function isTerminating({ metadata }: Namespace): boolean {
  return metadata.deletionTimestamp !== undefined && metadata.deletionTimestamp !== null;
}
