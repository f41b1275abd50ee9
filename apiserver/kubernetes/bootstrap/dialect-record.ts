import { dialect } from '../../../shared/names';
import type { Backend } from '../../engine/storage/backend';
import { readOrCreate } from './own-record';

/**
 * Writes down, at the first start on a store, which dialect its objects are spelled in, and refuses to start with another one:
 * names of groups and namespaces are part of the keys. Throws an Error that says what to do.
 */
export async function checkDialect(backend: Backend, prefix: string, signal: AbortSignal): Promise<void> {
  const found = await readOrCreate(backend, { key: `${prefix}.dialect`, make: () => dialect }, signal);
  if (found === dialect) return;
  throw new Error(
    `the store below ${prefix} was written with --dialect=${found ?? 'unknown'}; start with that dialect, or on another --etcd-prefix`,
  );
}
