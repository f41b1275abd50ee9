import { deepEqual } from '../../../shared/object/clone';
import { pause } from '../../../shared/concurrency/pause';
import { forEachLimited } from '../../../shared/concurrency/for-each-limited';
import type { Log } from '../../../shared/log/log';
import type { APIService } from '../../../shared/api/types/apiregistration-v1';
import type { ApiObject, GroupVersion } from '../../../shared/object/object';
import { GROUP, LABEL } from '../../../shared/names';
import { StatusError } from '../../../shared/errors/status-error';
import { priorityOf } from '../discovery/group-order';
import { deleteObject } from '../../engine/registry/delete';
import type { WriteContext } from '../../engine/registry/write-context';
import type { Registry } from '../../engine/registry/registry';
import type { Endpoint } from '../../engine/registry/resource';
import { currentOfEntry } from '../../engine/registry/stored-form';
import { updateObject } from '../../engine/registry/update';
import { createMissing } from './create-missing';
import { ROUND_MS, reconcileLoop } from './reconcile-loop';
import { ownRequest } from './own-request';

/** Interval in ms at which changes of the registry are detected. */
const LOOK_MS = 250;
const WRITES_AT_ONCE = 8;
/** Values of the label on APIServices that the server manages: for built-in versions and for custom resources. */
const ON_START = 'onstart';
const ALWAYS = 'true';

export interface ApiVersionsOptions {
  readonly store: WriteContext;
  readonly registry: () => Registry;
  /** Called after each round in which every served version was registered. */
  readonly onComplete?: () => void;
  readonly log: Log;
}

/** The APIServices of the served group versions, which clients and the aggregation layer read. */
export interface ApiVersions {
  /**
   * Runs one round: every served version has a correct APIService, and those of removed custom resources are deleted. Only the first
   * round of a process also deletes the ones of an earlier configuration, so that replicas with different configurations do not fight.
   */
  reconcile(signal: AbortSignal): Promise<void>;
  /** Runs a round every ten seconds, and after a change of the registry, until the signal aborts. A failed round is logged. */
  run(signal: AbortSignal): Promise<void>;
}

export function createApiVersions(options: ApiVersionsOptions): ApiVersions {
  let isFirst = true;
  const reconcile = async (signal: AbortSignal): Promise<void> => {
    const endpoint = options.registry().endpoint(GROUP.apiregistration, 'v1', 'apiservices');
    if (endpoint === undefined) {
      options.onComplete?.();
      return;
    }
    const wanted = wantedServices(options.registry());
    const removed = isFirst ? [ON_START, ALWAYS] : [ALWAYS];
    await removeLeftOvers(options.store, { endpoint, wanted, removed }, signal);
    isFirst = false;
    await forEachLimited([...wanted.values()], WRITES_AT_ONCE, (service) =>
      put(options.store, { endpoint, service }, signal),
    );
    options.onComplete?.();
  };
  return {
    reconcile,
    async run(signal) {
      let generation: number | undefined;
      const round = {
        reconcile: async (inTime: AbortSignal) => {
          ({ generation } = options.registry());
          await reconcile(inTime);
        },
        untilNext: async () => {
          for (let waitedMs = 0; waitedMs < ROUND_MS && !signal.aborted; waitedMs += LOOK_MS) {
            await pause(LOOK_MS, signal);
            if (options.registry().generation !== generation) return;
          }
        },
      };
      const failure = 'failed to reconcile the APIServices';
      await reconcileLoop({ ...round, log: options.log, failure }, signal);
    },
  };
}

/** Returns the APIServices by name. The group of the APIServices itself has none, because it must be served before any can be read. */
function wantedServices(registry: Registry): ReadonlyMap<string, APIService> {
  const services = registry.groups
    .filter(({ group }) => group !== GROUP.apiregistration)
    .flatMap(({ group, versions }) => versions.map((version) => serviceOf(registry, { group, version })));
  return new Map(services.map((service) => [service.metadata.name ?? '', service]));
}

function serviceOf(registry: Registry, { group, version }: GroupVersion): APIService {
  const isCustom = registry.endpointsOf(group, version).every(({ custom }) => custom !== undefined);
  return {
    metadata: {
      name: `${version}.${group}`,
      labels: { [LABEL.automanaged]: isCustom ? ALWAYS : ON_START },
    },
    spec: { ...(group === '' ? {} : { group }), version, ...priorityOf({ group, version }) },
  };
}

/** Creates a missing APIService and restores a labelled one; without the label it belongs to a client. */
async function put(
  store: WriteContext,
  { endpoint, service }: { readonly endpoint: Endpoint; readonly service: APIService },
  signal: AbortSignal,
): Promise<void> {
  const { name = '' } = service.metadata;
  const entry = store.cache.resource(endpoint.stored.keyPrefix).get(name);
  if (entry === undefined) {
    await createMissing(store, endpoint, service, signal);
    return;
  }
  const change = (current: ApiObject | undefined): ApiObject => {
    const found = current ?? service;
    return isOwn(found) ? { ...found, spec: service.spec } : found;
  };
  const { object } = currentOfEntry(endpoint.stored, entry);
  if (deepEqual(change(object), object)) return;
  const request = ownRequest(endpoint, { name });
  await unlessGone(updateObject(store, request, { change, options: { creates: 'never' } }, signal));
}

interface LeftOvers {
  readonly endpoint: Endpoint;
  readonly wanted: ReadonlyMap<string, APIService>;
  /** The label values whose unserved APIServices are deleted. */
  readonly removed: readonly string[];
}

async function removeLeftOvers(
  store: WriteContext,
  { endpoint, wanted, removed }: LeftOvers,
  signal: AbortSignal,
): Promise<void> {
  const { stored } = endpoint;
  for (const entry of store.cache.resource(stored.keyPrefix).snapshot().entries()) {
    if (wanted.has(entry.name) || !removed.includes(entry.labels[LABEL.automanaged] ?? '')) continue;
    const { uid = '', resourceVersion = '' } = currentOfEntry(stored, entry).object.metadata;
    const options = { dryRun: false, preconditions: { uid, resourceVersion } };
    await unlessGone(deleteObject(store, ownRequest(endpoint, { name: entry.name }), options, signal));
  }
}

function isOwn({ metadata }: ApiObject): boolean {
  return [ON_START, ALWAYS].includes(metadata.labels?.[LABEL.automanaged] ?? '');
}

/** Ignores NotFound and Conflict: another replica may have made the same write. */
async function unlessGone(write: Promise<unknown>): Promise<void> {
  try {
    await write;
  } catch (error) {
    const reason = error instanceof StatusError ? error.status.reason : undefined;
    if (reason !== 'NotFound' && reason !== 'Conflict') throw error;
  }
}
