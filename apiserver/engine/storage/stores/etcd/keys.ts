/** A key range as etcd names it: from `key` (inclusive) to `rangeEnd` (exclusive). */
export interface KeyRange {
  readonly key: Buffer;
  readonly rangeEnd: Buffer;
}

/** Every key there is: etcd reads an end of one zero byte as "no end". */
export const WHOLE_KEYSPACE: KeyRange = { key: Buffer.from([0]), rangeEnd: Buffer.from([0]) };

/** All keys that begin with `prefix`; only those after `after` (exclusive) if it is given and below the prefix. */
export function keysBelow(prefix: string, after?: string): KeyRange {
  const start = Buffer.from(prefix);
  if (start.length === 0 && after === undefined) return WHOLE_KEYSPACE;
  const first = after === undefined ? start : Buffer.from(`${after}\0`);
  return { key: Buffer.compare(first, start) > 0 ? first : start, rangeEnd: endOf(start) };
}

/** The first key after all keys that begin with these bytes. */
function endOf(prefix: Buffer): Buffer {
  for (let index = prefix.length - 1; index >= 0; index--) {
    const byte = prefix[index] ?? 0;
    if (byte === 0xff) continue;
    const end = Buffer.from(prefix.subarray(0, index + 1));
    end[index] = byte + 1;
    return end;
  }
  return WHOLE_KEYSPACE.rangeEnd;
}
