import { dialect } from '../../../shared/names';
import type { Backend } from '../../engine/storage/backend';
import { readOrCreate } from './own-record';

/**
 * Records the dialect of the objects at the first start on a store. Group and namespace names are part of the keys, so a start with
 * another dialect throws an Error that says what to do.
 */
export async function checkDialect(backend: Backend, prefix: string, signal: AbortSignal): Promise<void> {
  const found = await readOrCreate(backend, { key: `${prefix}.dialect`, make: () => dialect }, signal);
  if (found === dialect) return;
  throw new Error(
    `the store below ${prefix} was written with --dialect=${found ?? 'unknown'}; start with that dialect, or on another store (--embedded-dir, or with etcd --etcd-prefix)`,
  );
}
