import { StatusError } from '../../../shared/errors/status-error';
import { deepEqual } from '../../../shared/object/clone';
import type { ApiObject } from '../../../shared/object/object';
import { FLOW_OBJECT_BYTES_MAX } from '../../engine/fairness/configuration';
import { MANDATORY_FLOW_SCHEMAS, MANDATORY_PRIORITY_LEVELS } from '../kinds/flowcontrol/mandatory-flow';
import type { Endpoint } from '../../engine/registry/resource';
import { relativeKey } from '../../engine/registry/resource';
import { currentOfEntry } from '../../engine/registry/stored-form';
import { updateObject } from '../../engine/registry/update';
import type { WriteContext } from '../../engine/registry/write-context';
import { createMissing } from './create-missing';
import { ownObject } from './own-object';
import { ownRequest } from './own-request';
import type { RecentWrites } from './recent-writes';

/** The endpoints that write the objects of flow control. */
export interface FlowEndpoints {
  readonly levels: Endpoint;
  readonly schemas: Endpoint;
}

export interface MandatoryFlowOptions {
  readonly store: WriteContext;
  readonly endpoints: FlowEndpoints;
  /** Checked before each write, because the store may be replaced at any time. */
  readonly isBootstrapped: () => boolean;
  readonly writes: RecentWrites;
}

/**
 * Ensures the mandatory schemas and levels, without which some requests would match nothing, with their required spec. Clients cannot
 * change the spec, but a server of another release or a restored backup can.
 */
export async function restoreMandatory(
  { store, endpoints: { levels, schemas }, isBootstrapped, writes }: MandatoryFlowOptions,
  signal: AbortSignal,
): Promise<void> {
  const wanted = [
    ...Object.entries(MANDATORY_FLOW_SCHEMAS).map(([name, spec]) => ({ endpoint: schemas, name, spec })),
    ...Object.entries(MANDATORY_PRIORITY_LEVELS).map(([name, spec]) => ({ endpoint: levels, name, spec })),
  ];
  for (const { endpoint, name, spec } of wanted) {
    if (!isBootstrapped() || !store.cache.resource(endpoint.stored.keyPrefix).isReady) return;
    const object = ownObject(endpoint, { metadata: { name }, spec });
    await createMissing(store, endpoint, object, signal);
    if (!hasOtherSpec(store, endpoint, object)) continue;
    if (writes.mayWrite(`${endpoint.row.resource}/${name}`)) await writeSpec(store, endpoint, object, signal);
  }
}

function hasOtherSpec(store: WriteContext, { stored }: Endpoint, { metadata, spec }: ApiObject): boolean {
  const entry = store.cache.resource(stored.keyPrefix).get(relativeKey(stored, '', metadata.name ?? ''));
  if (entry === undefined || entry.bytes.length > FLOW_OBJECT_BYTES_MAX) return false;
  const { spec: found } = currentOfEntry(stored, entry).object;
  return !deepEqual(found, spec);
}

/** Only the spec is restored; all other fields belong to clients. */
async function writeSpec(
  store: WriteContext,
  endpoint: Endpoint,
  wanted: ApiObject,
  signal: AbortSignal,
): Promise<void> {
  const { spec } = wanted;
  const change = (current: ApiObject = wanted): ApiObject => ({ ...current, spec });
  const request = ownRequest(endpoint, wanted.metadata);
  await unlessGone(updateObject(store, request, { change, options: { creates: 'never' } }, signal));
}

/** Ignores a conflict with a write of another replica, or a deletion. */
export async function unlessGone(write: Promise<unknown>): Promise<void> {
  try {
    await write;
  } catch (error) {
    const reason = error instanceof StatusError ? error.status.reason : undefined;
    if (reason !== 'NotFound' && reason !== 'Conflict') throw error;
  }
}
