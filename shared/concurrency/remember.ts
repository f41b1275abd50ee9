/** Sets an entry as the newest of a map, and lets the oldest go when there are more than `max`. */
export function remember<Key, Value>(
  entries: Map<Key, Value>,
  key: Key,
  value: Value,
  { max }: { readonly max: number },
): void {
  entries.delete(key);
  entries.set(key, value);
  if (entries.size <= max) return;
  const oldest = entries.keys().next();
  if (oldest.done !== true) entries.delete(oldest.value);
}
