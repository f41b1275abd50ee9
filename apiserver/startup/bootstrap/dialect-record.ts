import { dialect } from '../../../shared/names';
import type { Backend } from '../../storage/backend';

/**
 * Writes down, at the first start on a store, which dialect its objects are spelled in, and refuses to start with another one:
 * names of groups and namespaces are part of the keys. Throws an Error that says what to do.
 */
export async function checkDialect(backend: Backend, prefix: string, signal: AbortSignal): Promise<void> {
  const key = `${prefix}.dialect`;
  const found = (await readOrCreate(backend, key, signal))?.toString('utf8');
  if (found === dialect) return;
  throw new Error(
    `the store below ${prefix} was written with --dialect=${found ?? 'unknown'}; start with that dialect, or on another --etcd-prefix`,
  );
}

/** A store that is full can be read: only the first start on it has to write. */
async function readOrCreate(backend: Backend, key: string, signal: AbortSignal): Promise<Buffer | undefined> {
  const { record } = await backend.get(key, signal);
  if (record !== undefined) return record.value;
  const value = Buffer.from(dialect);
  const outcome = await backend.create(key, value, {}, signal);
  return outcome.ok ? value : outcome.current?.value;
}
