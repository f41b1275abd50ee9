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

/** What a token may hang on. */
export type AccountResource = 'serviceaccounts' | 'secrets' | 'pods';

/** What is asked about such an object. */
export interface AccountObject {
  readonly uid: string;
  /** Milliseconds since the epoch; undefined for an object that nobody deletes. */
  readonly deletedAtMs: number | undefined;
  /** The `token` in the data of a Secret, in base64; empty where there is none. */
  readonly token: string;
}

export type ReadAccountObject = (
  resource: AccountResource,
  place: { readonly namespace: string; readonly name: string },
) => Promise<AccountObject | undefined>;

/** The objects that tokens hang on, as this replica knows them and as they are. */
export interface AccountObjects {
  readonly cached: ReadAccountObject;
  /** At least as fresh as a read index taken now: nobody is refused for what this replica has not heard of yet. */
  readonly fresh: (signal: AbortSignal) => ReadAccountObject;
}

/** Reads them from the watch cache, where each is looked into once. */
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

/** Of what tokens hang on only Secrets have data. */
function accountObjectOf({ metadata, data }: Pick<Secret, 'metadata' | 'data'>): AccountObject {
  const { uid = '', deletionTimestamp } = metadata;
  return {
    uid,
    deletedAtMs: typeof deletionTimestamp === 'string' ? Date.parse(deletionTimestamp) : undefined,
    token: data?.[TOKEN] ?? '',
  };
}
