import type { Namespace } from '../../shared/api/types/core-v1';

export function isTerminating({ metadata }: Namespace): boolean {
  return metadata.deletionTimestamp !== undefined && metadata.deletionTimestamp !== null;
}
