import type {
  DaemonSet,
  Deployment,
  ReplicaSet,
  ReplicaSetStatus,
  StatefulSet,
} from '../../../../shared/api/types/apps-v1';
import type { Job } from '../../../../shared/api/types/batch-v1';
import type { ReplicationController } from '../../../../shared/api/types/core-v1';
import { getDefaults } from '../../../../shared/defaults/defaults';
import type { FieldError } from '../../../../shared/errors/field-error';
import { invalid } from '../../../../shared/errors/field-error';
import { integer } from '../../../../shared/object/accessors';
import type { Int64 } from '../../../../shared/object/values';
import type { SubresourceStrategy } from '../../../engine/registry/strategy';
import { statusSubresource } from '../../../engine/registry/strategy';
import { isGateOn } from '../field-gates';
import { nonNegative } from '../rules/primitives';

/** The `status` subresource of a kind, with its rules. */
export function workloadStatus<Resource extends keyof Workloads>(
  resource: Resource,
): { readonly status: SubresourceStrategy<Workloads[Resource]> } {
  const rules: StatusRules<StatusOf<Resource>> = RULES[resource];
  return {
    status: {
      prepareForUpdate: statusSubresource.prepareForUpdate,
      validateUpdate: (next, previous) => statusErrors(rules, next.status, previous.status),
    },
  };
}

/**
 * The same of a kind that has by default the labels of its template: an applier that leaves its spec out takes both away, and gets the spec
 * back alone. So the defaults are applied again.
 */
export function labelledWorkloadStatus<Resource extends 'jobs' | 'replicationcontrollers'>(
  resource: Resource,
): { readonly status: SubresourceStrategy<Workloads[Resource]> } {
  const { status } = workloadStatus(resource);
  return {
    status: {
      ...status,
      prepareForUpdate: (next, previous, info) =>
        getDefaults(LABELLED[resource], (gate) => isGateOn(info.settings, gate))(
          status.prepareForUpdate(next, previous, info),
        ) as Workloads[Resource],
    },
  };
}

const LABELLED = { jobs: 'batch/v1.Job', replicationcontrollers: 'core/v1.ReplicationController' } as const;

/** Kinds that make pods, and whose controllers count them. */
interface Workloads {
  readonly replicationcontrollers: ReplicationController;
  readonly replicasets: ReplicaSet;
  readonly deployments: Deployment;
  readonly daemonsets: DaemonSet;
  readonly statefulsets: StatefulSet;
  readonly jobs: Job;
}

type StatusOf<Resource extends keyof Workloads> = NonNullable<Workloads[Resource]['status']>;

/** The fields that are integers. */
type CountOf<Status> = {
  [Name in keyof Status]-?: NonNullable<Status[Name]> extends Int64 ? Name & string : never;
}[keyof Status];

/** The rules of one kind's `status`, as its controller may write it. */
interface StatusRules<Status> {
  /** Fields that count something. */
  readonly counts: readonly CountOf<Status>[];
  /** Pairs: the first may not be greater than the second. */
  readonly atMost?: readonly (readonly [part: CountOf<Status>, whole: CountOf<Status>])[];
  /** Counts that never go back. */
  readonly growing?: readonly CountOf<Status>[];
}

const REPLICAS: StatusRules<ReplicaSetStatus> = {
  counts: [
    'replicas',
    'fullyLabeledReplicas',
    'readyReplicas',
    'availableReplicas',
    'terminatingReplicas',
    'observedGeneration',
  ],
  atMost: [
    ['fullyLabeledReplicas', 'replicas'],
    ['readyReplicas', 'replicas'],
    ['availableReplicas', 'replicas'],
    ['availableReplicas', 'readyReplicas'],
  ],
};

const RULES: { readonly [Resource in keyof Workloads]: StatusRules<StatusOf<Resource>> } = {
  replicationcontrollers: REPLICAS,
  replicasets: REPLICAS,
  deployments: {
    counts: [
      'observedGeneration',
      'replicas',
      'updatedReplicas',
      'readyReplicas',
      'availableReplicas',
      'unavailableReplicas',
      'terminatingReplicas',
      'collisionCount',
    ],
    atMost: [
      ['updatedReplicas', 'replicas'],
      ['readyReplicas', 'replicas'],
      ['availableReplicas', 'replicas'],
      ['availableReplicas', 'readyReplicas'],
    ],
    growing: ['collisionCount'],
  },
  daemonsets: {
    counts: [
      'currentNumberScheduled',
      'numberMisscheduled',
      'desiredNumberScheduled',
      'numberReady',
      'observedGeneration',
      'updatedNumberScheduled',
      'numberAvailable',
      'numberUnavailable',
      'collisionCount',
    ],
    growing: ['collisionCount'],
  },
  statefulsets: {
    counts: [
      'replicas',
      'readyReplicas',
      'currentReplicas',
      'updatedReplicas',
      'availableReplicas',
      'observedGeneration',
      'collisionCount',
    ],
    atMost: [
      ['readyReplicas', 'replicas'],
      ['currentReplicas', 'replicas'],
      ['updatedReplicas', 'replicas'],
      ['availableReplicas', 'replicas'],
      ['availableReplicas', 'readyReplicas'],
    ],
    growing: ['collisionCount'],
  },
  jobs: { counts: ['active', 'succeeded', 'failed'] },
};

/** What is wrong with a change of the status. */
function statusErrors<Status extends object>(
  { counts, atMost = [], growing = [] }: StatusRules<Status>,
  next: Status | undefined,
  previous: Status | undefined,
): FieldError[] {
  const count = (name: CountOf<Status>): Int64 => integer(next?.[name]) ?? 0;
  return [
    ...counts.flatMap((name) => nonNegative(next?.[name], `status.${name}`)),
    ...atMost.flatMap(([part, whole]) =>
      count(part) > count(whole)
        ? [
            invalid(
              `status.${part}`,
              count(part),
              `cannot be greater than ${whole === 'replicas' ? 'status.replicas' : whole}`,
            ),
          ]
        : [],
    ),
    ...growing
      .filter((name) => isDecremented(next?.[name], previous?.[name]))
      .map((name) => invalid(`status.${name}`, count(name), 'cannot be decremented')),
  ];
}

/** No count at all is less than any, 0 included. */
function isDecremented(next: unknown, previous: unknown): boolean {
  const before = integer(previous);
  return before !== undefined && (integer(next) ?? Number.NEGATIVE_INFINITY) < before;
}
