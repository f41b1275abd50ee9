/** A key range as etcd names it: from `key` (inclusive) to `rangeEnd` (exclusive). */
export interface KeyRange {
  readonly key: Buffer;
  readonly rangeEnd: Buffer;
}

/** Every key there is: etcd reads an end of one zero byte as "no end". */
export const WHOLE_KEYSPACE: KeyRange = { key: Buffer.from([0]), rangeEnd: Buffer.from([0]) };

/** All keys that begin with `prefix`, or those behind `after` (exclusive) when that is given and lies below the prefix. */
export function keysBelow(prefix: string, after?: string): KeyRange {
  const start = Buffer.from(prefix);
  if (start.length === 0 && after === undefined) return WHOLE_KEYSPACE;
  const behind = after === undefined ? start : Buffer.from(`${after}\0`);
  return { key: Buffer.compare(behind, start) > 0 ? behind : start, rangeEnd: endOf(start) };
}

/** The first key behind all that begin with these bytes. */
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
