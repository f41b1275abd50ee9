import type { Backend } from '../../engine/storage/backend';

/**
 * What stands under a key of the server's own; `make` is written down where nothing does yet. Undefined if somebody removes it meanwhile. A store that
 * is full can be read: only the first start on it has to write.
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
