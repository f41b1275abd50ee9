import type { FlowSchema, FlowSchemaCondition } from '../../../shared/api/types/flowcontrol-v1beta1';
import type { Log } from '../../../shared/log/log';
import { formatTime } from '../../../shared/meta/time';
import { GROUP } from '../../../shared/names';
import type { ApiObject } from '../../../shared/object/object';
import { ChangeSignal } from '../../engine/watch-cache/change-signal';
import type { ResourceCache } from '../../engine/watch-cache/resource-cache';
import type { FlowObjects } from '../../engine/fairness/configuration';
import { FlowConfiguration } from '../../engine/fairness/configuration';
import { isUsable } from '../../engine/fairness/level';
import { MANDATORY_PRIORITY_LEVELS, findFlowResources } from '../kinds/flowcontrol/mandatory-flow';
import type { Registry } from '../../engine/registry/registry';
import type { Endpoint } from '../../engine/registry/resource';
import { updateObject } from '../../engine/registry/update';
import type { WriteContext } from '../../engine/registry/write-context';
import type { FlowEndpoints } from './mandatory-flow-objects';
import { restoreMandatory, unlessGone } from './mandatory-flow-objects';
import { ownRequest } from './own-request';
import { RecentWrites } from './recent-writes';
import { reconcileLoop } from './reconcile-loop';

/** How long it goes without a change. */
const ROUND_MS = 60_000;
const CONDITION = 'Dangling';
/** Who writes the conditions, in managedFields: kube-apiserver's name for it. */
const MANAGER = 'api-priority-and-fairness-config-consumer-v1';

export interface FlowObjectsOptions {
  readonly store: WriteContext;
  readonly registry: () => Registry;
  /**
   * Whether the first objects of the store are there. One of the mandatory objects is the mark that they were made: in a store that has
   * just come into the place of another, it must not be made before them.
   */
  readonly isBootstrapped: () => boolean;
  readonly log: Log;
}

/** What a server itself keeps in order among the objects of flow control. Every replica does; what is in order is not written again. */
export interface FlowObjectsKeeper {
  /** One round: the mandatory objects are there with the spec they must have, and every FlowSchema says whether its priority level is. */
  reconcile(signal: AbortSignal): Promise<void>;
  /** A round every minute, and one when something has changed, until the signal aborts. A round that fails is logged. */
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

/** What cannot be used is told by who uses it. */
const SILENT: Pick<Log, 'warn'> = { warn: () => undefined };

function endpointsOf(registry: Registry): FlowEndpoints | undefined {
  const levels = registry.endpoint(GROUP.flowcontrol, 'v1beta1', 'prioritylevelconfigurations');
  const schemas = registry.endpoint(GROUP.flowcontrol, 'v1beta1', 'flowschemas');
  return levels === undefined || schemas === undefined ? undefined : { levels, schemas };
}

/** What is not served is absent. */
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
    const withCondition = (current: FlowSchema): FlowSchema => judged(current, names, nowTime);
    const { name = '' } = schema.metadata;
    if (withCondition(schema) === schema || !writes.mayWrite(`condition of ${name}`)) continue;
    const request = { ...ownRequest(endpoint, { name }, MANAGER), subresource: 'status' };
    const change = (current: ApiObject | undefined): ApiObject =>
      withCondition((current ?? schema) as FlowSchema);
    await unlessGone(updateObject(store, request, { change, options: { creates: 'never' } }, signal));
  }
}

/** The same object if it says what is so. The words are kube-apiserver's. */
function judged(schema: FlowSchema, levels: ReadonlySet<string>, nowTime: string): FlowSchema {
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
