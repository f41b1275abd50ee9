import type { Secret } from '../../../../shared/api/types/core-v1';
import { GROUP } from '../../../../shared/names';
import type { Registry } from '../../../engine/registry/registry';
import { readFresh } from '../../../engine/registry/current';
import type { ReadContext } from '../../../engine/registry/read-context';
import type { Endpoint } from '../../../engine/registry/resource';
import { relativeKey } from '../../../engine/registry/resource';
import { currentOfEntry } from '../../../engine/registry/stored-form';
import type { Entry } from '../../../engine/watch-cache/state/entry';

const TOKEN = 'token';

/** The resources that a token can be bound to. */
export type AccountResource = 'serviceaccounts' | 'secrets' | 'pods';

/** The fields of such an object that matter to tokens. */
export interface AccountObject {
  readonly uid: string;
  /** The deletion timestamp in milliseconds since the epoch; undefined if the object is not being deleted. */
  readonly deletedAtMs: number | undefined;
  /** The `token` in the data of a Secret, in base64; empty if there is none. */
  readonly token: string;
}

export type ReadAccountObject = (
  resource: AccountResource,
  place: { readonly namespace: string; readonly name: string },
) => Promise<AccountObject | undefined>;

/** Reads the objects that tokens are bound to. */
export interface AccountObjects {
  /** Reads the watch cache. */
  readonly cached: ReadAccountObject;
  /** Reads at least as fresh as a read index taken now, so that a stale cache never rejects a token. */
  readonly fresh: (signal: AbortSignal) => ReadAccountObject;
}

/** Creates the readers. Each cached version of an object is decoded once. */
export function accountObjects(context: ReadContext, registry: () => Registry): AccountObjects {
  const seen = new WeakMap<Entry, AccountObject>();
  const endpointOf = (resource: AccountResource): Endpoint => {
    const endpoint = registry().endpoint(GROUP.core, 'v1', resource);
    if (endpoint === undefined) throw new Error(`${resource} are not served`);
    return endpoint;
  };
  return {
    cached: async (resource, { namespace, name }) => {
      const endpoint = endpointOf(resource);
      const key = relativeKey(endpoint.stored, namespace, name);
      const entry = context.cache.resource(endpoint.stored.keyPrefix).get(key);
      if (entry === undefined) return Promise.resolve(undefined);
      const known = seen.get(entry);
      if (known !== undefined) return Promise.resolve(known);
      const object = accountObjectOf(currentOfEntry(endpoint.stored, entry).object);
      seen.set(entry, object);
      return Promise.resolve(object);
    },
    fresh:
      (signal) =>
      async (resource, { namespace, name }) => {
        const endpoint = endpointOf(resource);
        const current = await readFresh(
          context,
          endpoint,
          relativeKey(endpoint.stored, namespace, name),
          signal,
        );
        return current && accountObjectOf(current.object);
      },
  };
}

/** Only Secrets have data. */
function accountObjectOf({ metadata, data }: Pick<Secret, 'metadata' | 'data'>): AccountObject {
  const { uid = '', deletionTimestamp } = metadata;
  return {
    uid,
    deletedAtMs: typeof deletionTimestamp === 'string' ? Date.parse(deletionTimestamp) : undefined,
    token: data?.[TOKEN] ?? '',
  };
}
