import type { Pod, PodStatus, PodTemplateSpec } from '../../shared/api/types/core-v1';
import { DEFAULT_KIND_SETTINGS } from '../../apiserver/engine/registry/strategy';
import { FIELD_GATES } from '../../apiserver/kubernetes/kinds/field-gates';
import { GATES, isOnByDefault } from '../../shared/flags/feature-gate-table';
import { silentLog } from '../../shared/log/log';
import { RESOURCE } from '../../shared/api/resource-names';
import { queryString, resourcePath } from '../../shared/client/resource-path';
import { hasCode } from '../../shared/client/status';
import { formatTime } from '../../shared/meta/time';
import type { ApiObject, ObjectMeta, ResourceOf } from '../../shared/object/object';
import { apiVersionOf } from '../../shared/object/object';
import { eventually } from '../../shared/testing/eventually';
import type { RoleBench } from './role-bench';
import { createRoleBench } from './role-bench';

export const NAMESPACE_OF_WORKLOADS = 'default';

/** A role bench with the calls that tests of workload controllers repeat. */
export interface WorkloadBench extends RoleBench {
  readonly make: <T extends ApiObject>(
    resource: ResourceOf<T>,
    name: string,
    parts: Partial<Omit<T, 'metadata'>> & { readonly metadata?: ObjectMeta },
  ) => Promise<T>;
  readonly read: <T extends ApiObject>(resource: ResourceOf<T>, name: string) => Promise<T>;
  readonly list: <T extends ApiObject>(
    resource: ResourceOf<T>,
    labelSelector?: string,
  ) => Promise<readonly T[]>;
  /** Changes an object by a JSON merge patch. */
  readonly change: (
    resource: ResourceOf<ApiObject>,
    name: string,
    patch: object,
    subresource?: string,
  ) => Promise<void>;
  readonly remove: (resource: ResourceOf<ApiObject>, name: string, options?: object) => Promise<void>;
  /** Resolves with the list once the condition holds. */
  readonly whenList: <T extends ApiObject>(
    resource: ResourceOf<T>,
    what: string,
    holds: (objects: readonly T[]) => boolean,
  ) => Promise<readonly T[]>;
  readonly whenObject: <T extends ApiObject>(
    resource: ResourceOf<T>,
    name: string,
    holds: (object: T) => boolean,
  ) => Promise<T>;
  /** Writes the status of a pod: by default that of a running and ready one. */
  readonly setPodStatus: (pod: Pod, status?: Partial<PodStatus>) => Promise<void>;
  /** Makes all pods ready that are not, as a node would; returns how many. */
  readonly makeReady: () => Promise<number>;
  /** The reasons and messages of the Events about objects of this kind, sorted. */
  readonly eventsOf: (kind: string) => Promise<readonly string[]>;
}

export async function createWorkloadBench(): Promise<WorkloadBench> {
  // The features of Jobs are alpha or beta in v1.21; gates of other levels stay off.
  const kindSettings = {
    ...DEFAULT_KIND_SETTINGS,
    gates: new Set(FIELD_GATES.filter((gate) => GATES.has(gate) || isOnByDefault(gate))),
  };
  const bench = await createRoleBench(silentLog, { kindSettings });
  const namespace = NAMESPACE_OF_WORKLOADS;
  const placeOf = (resource: ResourceOf<ApiObject>) =>
    ['nodes', 'namespaces', 'persistentvolumes'].includes(resource.resource) ? {} : { namespace };
  const pathOf = (resource: ResourceOf<ApiObject>, name?: string, subresource?: string): string =>
    resourcePath(resource, {
      ...placeOf(resource),
      ...(name === undefined ? {} : { name }),
      ...(subresource === undefined ? {} : { subresource }),
    });
  const read: WorkloadBench['read'] = async (resource, name) =>
    (await bench.call('GET', pathOf(resource, name))) as never;
  const list: WorkloadBench['list'] = async (resource, labelSelector) => {
    const answer = await bench.call('GET', pathOf(resource) + queryString({ labelSelector }));
    return (answer as unknown as { readonly items: never }).items;
  };
  const change: WorkloadBench['change'] = async (resource, name, patch, subresource) => {
    await bench.api.call('PATCH', pathOf(resource, name, subresource), {
      body: patch,
      headers: { 'content-type': 'application/merge-patch+json' },
    });
  };
  const setPodStatus: WorkloadBench['setPodStatus'] = async (pod, status = {}) => {
    const now = formatTime(Date.now());
    const ready = { type: 'Ready', status: 'True', lastProbeTime: null, lastTransitionTime: now };
    await change(
      RESOURCE.pods,
      pod.metadata.name ?? '',
      { status: { phase: 'Running', conditions: [ready], ...status } },
      'status',
    );
  };
  return {
    ...bench,
    make: async (resource, name, parts) =>
      (await bench.call('POST', pathOf(resource), {
        apiVersion: apiVersionOf(resource),
        ...parts,
        metadata: { name, ...placeOf(resource), ...parts.metadata },
      })) as never,
    read,
    list,
    change,
    remove: async (resource, name, options) => {
      await bench.call('DELETE', pathOf(resource, name), options);
    },
    whenList: async (resource, what, holds) => {
      let found = await list(resource);
      await eventually(what, async () => {
        found = await list(resource);
        return holds(found);
      });
      return found;
    },
    whenObject: async (resource, name, holds) => {
      let found: ApiObject | undefined;
      await eventually(`${resource.resource}/${name} is as it should be`, async () => {
        found = await read(resource, name).catch((error: unknown) => {
          if (hasCode(error, 404)) return undefined;
          throw error;
        });
        return found !== undefined && holds(found as never);
      });
      return found as never;
    },
    setPodStatus,
    makeReady: async () => {
      const pods = await list<Pod>(RESOURCE.pods);
      const waiting = pods.filter(({ status }) => (status?.phase ?? 'Pending') === 'Pending');
      for (const pod of waiting) await setPodStatus(pod);
      return waiting.length;
    },
    eventsOf: async (kind) => {
      const events = await list(RESOURCE.events);
      return events
        .filter(({ involvedObject }) => involvedObject.kind === kind)
        .map(({ reason = '', message = '' }) => `${reason}: ${message}`)
        .sort();
    },
  };
}

/** Returns a template of pods with these labels. */
export function podTemplate(labels: Readonly<Record<string, string>>, image = 'web:1'): PodTemplateSpec {
  return { metadata: { labels }, spec: { containers: [{ name: 'web', image, resources: {} }] } };
}
