import type { ResourceQuota } from '../../../../shared/api/types/core-v1';
import { serviceUnavailable } from '../../../../shared/errors/status-error';
import type { ApiObject } from '../../../../shared/object/object';
import type { Amounts } from '../../../../shared/quota/amounts';
import { formatResourceList } from '../../../../shared/quota/amounts';
import type { ReadContext } from '../../../engine/registry/read-context';
import { absoluteKey, lastSeen } from '../../../engine/registry/current';
import type { Registry } from '../../../engine/registry/registry';
import type { StoredResource } from '../../../engine/registry/resource';
import { relativeKey } from '../../../engine/registry/resource';
import {
  asKnown,
  currentOfRecord,
  currentOfWritten,
  encodeForStorage,
  plainOf,
} from '../../../engine/registry/stored-form';
import type { Current } from '../../../engine/registry/write';
import { StorageError } from '../../../engine/storage/backend';
import { RESOURCE_QUOTAS } from '../../cluster/resources';

/** The stored quotas. */
export interface QuotaRecords {
  /**
   * Returns the quotas of a namespace in order of names, from the watch cache or from this server's own writes. Throws ServiceUnavailable
   * (503) while they are refilled.
   */
  ofNamespace(namespace: string): readonly ResourceQuota[];
  /** Writes the usage if the stored quota is still the given one. Returns the quota as stored afterwards; undefined if it is gone. */
  writeUsed(quota: ResourceQuota, used: Amounts, signal: AbortSignal): Promise<WrittenQuota>;
}

export interface WrittenQuota {
  readonly isWritten: boolean;
  readonly quota: ResourceQuota | undefined;
}

const RETRY_AFTER_SECONDS = 1;

/** Reads from the cache, and writes without admission and validation: the status is the server's own. */
export function quotaRecords(registry: Registry, context: ReadContext): QuotaRecords {
  const stored = registry.endpoint(RESOURCE_QUOTAS.group, 'v1', RESOURCE_QUOTAS.resource)?.stored;
  if (stored === undefined) throw new Error('resourcequotas are not served');
  context.cache.want(stored.keyPrefix);
  return {
    ofNamespace: (namespace) => {
      const cache = context.cache.resource(stored.keyPrefix);
      if (!cache.isReady) {
        throw serviceUnavailable(`admission waits for ${stored.name} to be refilled`, RETRY_AFTER_SECONDS);
      }
      return Array.from(cache.snapshot().entriesOf(namespace), ({ name }) => {
        return quotaIn(lastSeen(context, { stored }, relativeKey(stored, namespace, name)));
      }).filter((quota) => quota !== undefined);
    },
    writeUsed: async (quota, used, signal) => {
      const { namespace = '', name = '', resourceVersion } = quota.metadata;
      const key = absoluteKey(context, { stored }, relativeKey(stored, namespace, name));
      const status = { ...quota.status, used: formatResourceList(used) };
      const expected = Number(resourceVersion);
      const encoded = encodeForStorage(stored, { ...quota, status }, newerOf(stored, quota, expected));
      const outcome = await reported(name, context.backend.update(key, encoded.plain, { expected }, signal));
      if (outcome.ok) {
        const current = currentOfWritten({ ...encoded, revision: outcome.revision });
        context.cache.recent.written(key, current, context.clock.now());
        return { isWritten: true, quota: quotaIn(current) };
      }
      if (outcome.current === undefined) return { isWritten: false, quota: undefined };
      return { isWritten: false, quota: quotaIn(currentOfRecord(stored, outcome.current)) };
    },
  };
}

/** Returns the fields of later releases, which a new version of the quota has to keep; undefined without any. */
function newerOf(stored: StoredResource, quota: ResourceQuota, revision: number): Current | undefined {
  const known = asKnown(stored, { object: quota, plain: NOT_NEEDED, revision });
  return known.newer === undefined ? undefined : { ...known, plain: plainOf(quota) };
}

const NOT_NEEDED = Buffer.alloc(0);

/** Stored quotas were decoded as quotas. */
function quotaIn(current: { readonly object: ApiObject } | undefined): ResourceQuota | undefined {
  return current?.object as ResourceQuota | undefined;
}

/** An unknown outcome of the charge is no unknown outcome of the object, which certainly is not stored. */
async function reported<T>(name: string, outcome: Promise<T>): Promise<T> {
  try {
    return await outcome;
  } catch (error) {
    if (!(error instanceof StorageError) || error.code !== 'unknown-outcome') throw error;
    throw serviceUnavailable(
      `the usage of quota ${name} could not be written for certain`,
      RETRY_AFTER_SECONDS,
      error,
    );
  }
}
