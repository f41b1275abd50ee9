import type { LineageRecord } from '../../../../../shared/store-lineage';
import { parseLineage } from '../../../../../shared/store-lineage';
import { StorageError } from '../../backend';

/** Throws a StorageError `corrupt` for bytes that are no record of a lineage. */
export function decodeLineage(value: Buffer): LineageRecord {
  const parsed = parseLineage(value);
  if (!('problem' in parsed)) return parsed;
  throw new StorageError('corrupt', parsed.problem, { cause: parsed.cause });
}
