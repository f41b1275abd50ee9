import { deepEqual } from '../../shared/meta/clone';
import { pause } from '../../shared/concurrency/pause';
import { forEachLimited } from '../../shared/concurrency/for-each-limited';
import { GROUPS } from '../../shared/api/groups';
import type { Log } from '../../shared/log/log';
import type { ApiObject } from '../../shared/meta/object';
import { GROUP, LABEL } from '../../shared/names';
import { StatusError } from '../../shared/errors/status-error';
import { deleteObject } from '../registry/delete';
import type { StoreContext, WriteRequest } from '../registry/object-store';
import type { Registry } from '../registry/registry';
import type { Endpoint } from '../registry/resource';
import { currentOfEntry } from '../registry/stored-form';
import { updateObject } from '../registry/update';
import { API_SERVER_USER, createMissing } from './create-missing';

/** How often a replica looks whether its versions are registered; a round that finds all in order writes nothing. */
const ROUND_MS = 10_000;
const ROUND_TIMEOUT_MS = 10_000;
const WRITES_AT_ONCE = 8;
/** The value of the label on registrations that a server makes of what it serves itself. */
const ON_START = 'onstart';

export interface ApiVersionsOptions {
  readonly store: StoreContext;
  readonly registry: () => Registry;
  readonly log: Log;
}

/** The APIServices of the built-in group versions: clients and the aggregation layer see in them what is served. */
export interface ApiVersions {
  /**
   * One round: every served version has its APIService, with the right spec. The first round of a process also removes those that
   * an earlier configuration left behind; a later one does not, so that replicas of different configurations do not fight.
   */
  reconcile(signal: AbortSignal): Promise<void>;
  /** A round every ten seconds until the signal aborts. A round that fails is logged. */
  keep(signal: AbortSignal): Promise<void>;
}

export function createApiVersions(options: ApiVersionsOptions): ApiVersions {
  let isFirst = true;
  const reconcile = async (signal: AbortSignal): Promise<void> => {
    const endpoint = options.registry().endpoint(GROUP.apiregistration, 'v1', 'apiservices');
    if (endpoint === undefined) return;
    const wanted = wantedServices(options.registry());
    if (isFirst) await removeLeftOvers(options.store, { endpoint, wanted }, signal);
    isFirst = false;
    await forEachLimited([...wanted.values()], WRITES_AT_ONCE, (service) =>
      put(options.store, { endpoint, service }, signal),
    );
  };
  return {
    reconcile,
    async keep(signal) {
      while (!signal.aborted) {
        const round = AbortSignal.any([signal, AbortSignal.timeout(ROUND_TIMEOUT_MS)]);
        await reconcile(round).catch((error: unknown) => {
          if (!signal.aborted)
            options.log.warn({ why: String(error) }, 'the APIServices could not be brought up to date');
        });
        await pause(ROUND_MS, signal);
      }
    },
  };
}

/** By name. The group of the APIServices themselves has none: it is there before any of them can be read. */
function wantedServices(registry: Registry): ReadonlyMap<string, ApiObject> {
  const services = GROUPS.filter(({ group }) => group !== GROUP.apiregistration).flatMap((row) =>
    row.versions
      .filter(({ version }) => registry.endpointsOf(row.group, version).length > 0)
      .map(({ version, priority }) => ({
        metadata: { name: `${version}.${row.group}`, labels: { [LABEL.automanaged]: ON_START } },
        spec: {
          ...(row.group === '' ? {} : { group: row.group }),
          version,
          groupPriorityMinimum: row.priority,
          versionPriority: priority,
        },
      })),
  );
  return new Map(services.map((service) => [service.metadata.name, service]));
}

/** Creates what is missing and puts right what is still marked as the server's own; without the mark it is somebody else's. */
async function put(
  store: StoreContext,
  { endpoint, service }: { readonly endpoint: Endpoint; readonly service: ApiObject },
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
    return isOwn(found) ? { ...found, spec: service['spec'] } : found;
  };
  const { object } = currentOfEntry(endpoint.stored, entry);
  if (deepEqual(change(object), object)) return;
  const request = requestFor(endpoint, name);
  await unlessGone(updateObject(store, request, { change, options: { creates: 'never' } }, signal));
}

async function removeLeftOvers(
  store: StoreContext,
  { endpoint, wanted }: { readonly endpoint: Endpoint; readonly wanted: ReadonlyMap<string, ApiObject> },
  signal: AbortSignal,
): Promise<void> {
  const { stored } = endpoint;
  for (const entry of store.cache.resource(stored.keyPrefix).snapshot().entries()) {
    if (wanted.has(entry.name)) continue;
    const { metadata } = currentOfEntry(stored, entry).object;
    if (!isOwn({ metadata })) continue;
    const { uid = '', resourceVersion = '' } = metadata;
    const options = { dryRun: false, preconditions: { uid, resourceVersion } };
    await unlessGone(deleteObject(store, requestFor(endpoint, entry.name), options, signal));
  }
}

function isOwn({ metadata }: ApiObject): boolean {
  return metadata.labels?.[LABEL.automanaged] === ON_START;
}

function requestFor(endpoint: Endpoint, name: string): WriteRequest {
  return { endpoint, namespace: '', name, subresource: '', user: API_SERVER_USER, dryRun: false };
}

/** Another replica may have done the same a moment before. */
async function unlessGone(write: Promise<unknown>): Promise<void> {
  try {
    await write;
  } catch (error) {
    const reason = error instanceof StatusError ? error.status.reason : undefined;
    if (reason !== 'NotFound' && reason !== 'Conflict') throw error;
  }
}
