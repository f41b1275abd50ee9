import { isInForce } from '../../../shared/api/changes';
import type { FlowSchema, FlowSchemaCondition } from '../../../shared/api/types/flowcontrol-v1';
import type { Log } from '../../../shared/log/log';
import { formatTime } from '../../../shared/meta/time';
import { GROUP } from '../../../shared/names';
import type { ApiObject } from '../../../shared/object/object';
import { ChangeSignal } from '../../engine/watch-cache/change-signal';
import type { ResourceCache } from '../../engine/watch-cache/resource-cache';
import type { FlowObjects } from '../../engine/fairness/configuration';
import { FlowConfiguration } from '../../engine/fairness/configuration';
import { RESOURCE } from '../../../shared/api/resource-names';
import { isUsable } from '../../engine/fairness/level';
import { MANDATORY_PRIORITY_LEVELS, findFlowResources } from '../kinds/flowcontrol/mandatory-flow';
import { applied } from '../../engine/registry/field-tracking';
import type { Registry } from '../../engine/registry/registry';
import type { Endpoint } from '../../engine/registry/resource';
import { updateObject } from '../../engine/registry/update';
import type { WriteContext } from '../../engine/registry/write-context';
import type { WriteRequest } from '../../engine/registry/write-request';
import type { FlowEndpoints } from './mandatory-flow-objects';
import { restoreMandatory, unlessGone } from './mandatory-flow-objects';
import { ownObject } from './own-object';
import { ownRequest } from './own-request';
import { RecentWrites } from './recent-writes';
import { reconcileLoop } from './reconcile-loop';

const { version: VERSION } = RESOURCE.flowschemas;

/** Interval in ms between rounds without a change. */
const ROUND_MS = 60_000;
const CONDITION = 'Dangling';
/** The manager of the conditions in managedFields, as in kube-apiserver. */
const MANAGER = 'api-priority-and-fairness-config-consumer-v1';

export interface FlowObjectsOptions {
  readonly store: WriteContext;
  readonly registry: () => Registry;
  /**
   * Returns whether the first objects of the store exist. One mandatory object marks their completion, so it must not be created before
   * them in a replaced store.
   */
  readonly isBootstrapped: () => boolean;
  readonly log: Log;
}

/** Maintains the mandatory objects and the status of flow control. Every replica does so; correct objects are not written again. */
export interface FlowObjectsKeeper {
  /** Runs one round: the mandatory objects have their spec, and every FlowSchema reports whether its priority level exists. */
  reconcile(signal: AbortSignal): Promise<void>;
  /** Runs a round every minute, and after a change, until the signal aborts. A failed round is logged. */
  run(signal: AbortSignal): Promise<void>;
}

export function createFlowObjects({
  store,
  registry,
  isBootstrapped,
  log,
}: FlowObjectsOptions): FlowObjectsKeeper {
  const configuration = new FlowConfiguration({
    resources: findFlowResources(registry().stored),
    cache: store.cache,
    log: SILENT,
  });
  const writes = new RecentWrites(() => store.clock.now());
  let objects: FlowObjects | undefined;
  const reconcile = async (signal: AbortSignal): Promise<void> => {
    const endpoints = endpointsOf(registry());
    if (endpoints === undefined) return;
    await restoreMandatory({ store, endpoints, isBootstrapped, writes }, signal);
    objects = configuration.takeChanges() ?? objects;
    if (objects !== undefined)
      await writeConditions({ store, endpoint: endpoints.schemas, writes }, objects, signal);
  };
  return {
    reconcile,
    async run(signal) {
      const changes = new ChangeSignal(cachesOf(registry(), store));
      const untilNext = async (): Promise<void> => changes.wait(ROUND_MS, signal);
      const failure = 'failed to reconcile the objects of flow control';
      await reconcileLoop({ reconcile, untilNext, log, failure }, signal);
    },
  };
}

/** The component that uses the objects logs the invalid ones. */
const SILENT: Pick<Log, 'warn'> = { warn: () => undefined };

function endpointsOf(registry: Registry): FlowEndpoints | undefined {
  const levels = registry.endpoint(GROUP.flowcontrol, VERSION, 'prioritylevelconfigurations');
  const schemas = registry.endpoint(GROUP.flowcontrol, VERSION, 'flowschemas');
  return levels === undefined || schemas === undefined ? undefined : { levels, schemas };
}

/** Returns undefined for a kind that is not served. */
function cachesOf(registry: Registry, { cache }: WriteContext): readonly ResourceCache[] {
  const { levels, schemas } = endpointsOf(registry) ?? {};
  return [levels, schemas].flatMap((endpoint) =>
    endpoint === undefined ? [] : [cache.resource(endpoint.stored.keyPrefix)],
  );
}

interface ConditionWriter {
  readonly store: WriteContext;
  readonly endpoint: Endpoint;
  readonly writes: RecentWrites;
}

async function writeConditions(
  { store, endpoint, writes }: ConditionWriter,
  { levels, schemas }: FlowObjects,
  signal: AbortSignal,
): Promise<void> {
  const names = new Set(levels.filter(isUsable).map(({ metadata }) => metadata.name ?? ''));
  for (const name of Object.keys(MANDATORY_PRIORITY_LEVELS)) names.add(name);
  const nowTime = formatTime(store.clock.now());
  for (const schema of schemas) {
    const withCondition = (current: FlowSchema): FlowSchema => updateCondition(current, names, nowTime);
    const { name = '' } = schema.metadata;
    if (withCondition(schema) === schema || !writes.mayWrite(`condition of ${name}`)) continue;
    const request = { ...ownRequest(endpoint, { name }, MANAGER), subresource: 'status' };
    const isApplied = isInForce('flowConditionsAreApplied') && store.serverSideApply;
    const change = (current: ApiObject | undefined): ApiObject => {
      const live = (current ?? schema) as FlowSchema;
      const next = withCondition(live);
      return isApplied && next !== live ? applyCondition(store, request, { live, next }) : next;
    };
    const options = { creates: 'never', isTracked: isApplied } as const;
    await unlessGone(updateObject(store, request, { change, options }, signal));
  }
}

/** Applies the condition alone, so that its manager owns nothing else. */
function applyCondition(
  store: WriteContext,
  request: WriteRequest,
  { live, next }: Readonly<Record<'live' | 'next', FlowSchema>>,
): ApiObject {
  const { endpoint, name } = request;
  const conditions = (next.status?.conditions ?? []).filter(({ type }) => type === CONDITION);
  const config: ApiObject & Pick<FlowSchema, 'status'> = {
    apiVersion: endpoint.apiVersion,
    kind: endpoint.row.kind,
    metadata: { name },
    status: { conditions },
  };
  const read = (merged: object): ApiObject => ownObject(endpoint, merged as ApiObject);
  return applied(store, request, { live, config, force: true, read });
}

/** Returns the schema with its condition; the same object if it is unchanged. The messages are those of kube-apiserver. */
function updateCondition(schema: FlowSchema, levels: ReadonlySet<string>, nowTime: string): FlowSchema {
  const { name } = schema.spec.priorityLevelConfiguration;
  const about = `This FlowSchema references the PriorityLevelConfiguration object named ${JSON.stringify(name)}`;
  const next: FlowSchemaCondition = levels.has(name)
    ? {
        type: CONDITION,
        status: 'False',
        lastTransitionTime: nowTime,
        reason: 'Found',
        message: `${about} and it exists`,
      }
    : {
        type: CONDITION,
        status: 'True',
        lastTransitionTime: nowTime,
        reason: 'NotFound',
        message: `${about} but there is no such object`,
      };
  const conditions = schema.status?.conditions ?? [];
  const known = conditions.find(({ type }) => type === CONDITION);
  const fields = ['status', 'reason', 'message'] as const;
  if (known !== undefined && fields.every((field) => known[field] === next[field])) return schema;
  const others = conditions.filter(({ type }) => type !== CONDITION);
  return { ...schema, status: { ...schema.status, conditions: [...others, next] } };
}
