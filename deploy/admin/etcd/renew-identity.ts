import { randomUUID } from 'node:crypto';
import type { Etcd3 } from 'etcd3';
import { encodeStoreIdentity, offsetOfRestore, parseStoreIdentity } from '../../../shared/store-identity';

/** What a store is known by from here on. */
export interface RenewedIdentity {
  readonly id: string;
  /** What API servers add to etcd's revisions: every resourceVersion is above it. */
  readonly offset: number;
  /** Of etcd itself. */
  readonly revision: number;
}

const TRIES_MAX = 5;

/**
 * Begins another line of history of a restored store: API servers that run see it at once, and no resourceVersion is given out twice. Rejects
 * where the record that is there cannot be read, or others change it all the time.
 */
export async function renewIdentity(
  client: Etcd3,
  { key, nowMs }: { readonly key: string; readonly nowMs: number },
): Promise<RenewedIdentity> {
  for (let tries = 1; tries <= TRIES_MAX; tries++) {
    const { kvs, header } = await client.get(key).exec();
    const [record] = kvs;
    const known = record === undefined ? { offset: 0 } : parseStoreIdentity(record.value);
    if ('problem' in known)
      throw new Error(`${known.problem}: ${key}; check --etcd-prefix`, { cause: known.cause });
    const revision = Number(header.revision);
    const next = { id: randomUUID(), offset: offsetOfRestore(known.offset + revision, nowMs) };
    const { succeeded } = await client
      .if(key, 'Mod', '==', record === undefined ? 0 : Number(record.mod_revision))
      .then(client.put(key).value(encodeStoreIdentity(next)))
      .commit();
    if (succeeded) return { ...next, revision: revision + 1 };
  }
  throw new Error(`${key} was changed by others ${String(TRIES_MAX)} times; run this again`);
}
