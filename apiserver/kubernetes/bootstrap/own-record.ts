import type { Backend } from '../../engine/storage/backend';

/**
 * Returns the value of an internal key; writes the result of `make` if there is none. Returns undefined if the key is deleted meanwhile.
 * Only the first start writes, so a store without free space can be read.
 */
export async function readOrCreate(
  backend: Backend,
  { key, make }: { readonly key: string; readonly make: () => string },
  signal: AbortSignal,
): Promise<string | undefined> {
  const { record } = await backend.get(key, signal);
  if (record !== undefined) return record.value.toString('utf8');
  const value = make();
  const outcome = await backend.create(key, Buffer.from(value), {}, signal);
  return outcome.ok ? value : outcome.current?.value.toString('utf8');
}
