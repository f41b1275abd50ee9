import type { SubresourceStrategy } from '../../registry/strategy';
import { statusSubresource } from '../../registry/strategy';
import type { FieldError } from '../../../shared/errors/field-error';
import { invalid } from '../../../shared/errors/field-error';
import type { ApiObject } from '../../../shared/object/object';
import { integer, record } from '../../../shared/object/accessors';
import { nonNegative } from '../rules/primitives';

/** The rules of one kind's `status`, as its controller may write it. */
export interface StatusRules {
  /** Fields that count something. */
  readonly counts: readonly string[];
  /** Pairs: the first may not be greater than the second. */
  readonly atMost?: readonly (readonly [part: string, whole: string])[];
  /** Counts that never go back. */
  readonly growing?: readonly string[];
}

export type WorkloadWithStatus =
  'replicationcontrollers' | 'replicasets' | 'deployments' | 'daemonsets' | 'statefulsets' | 'jobs';

const REPLICAS: StatusRules = {
  counts: ['replicas', 'fullyLabeledReplicas', 'readyReplicas', 'availableReplicas', 'observedGeneration'],
  atMost: [
    ['fullyLabeledReplicas', 'replicas'],
    ['readyReplicas', 'replicas'],
    ['availableReplicas', 'replicas'],
    ['availableReplicas', 'readyReplicas'],
  ],
};

const RULES: Readonly<Record<WorkloadWithStatus, StatusRules>> = {
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
      'observedGeneration',
      'collisionCount',
    ],
    atMost: [
      ['readyReplicas', 'replicas'],
      ['currentReplicas', 'replicas'],
      ['updatedReplicas', 'replicas'],
    ],
    growing: ['collisionCount'],
  },
  jobs: { counts: ['active', 'succeeded', 'failed'] },
};

/** The rules of a change of the status of one kind. */
export function validateWorkloadStatus(
  kind: WorkloadWithStatus,
): (next: ApiObject, previous: ApiObject) => FieldError[] {
  const { counts, atMost = [], growing = [] } = RULES[kind];
  return (next, previous) => {
    const status = record(next['status']);
    const old = record(previous['status']);
    const count = (name: string): number => integer(status[name]) ?? 0;
    return [
      ...counts.flatMap((name) => nonNegative(status[name], `status.${name}`)),
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
      ...growing.flatMap((name) =>
        old[name] !== undefined && count(name) < (integer(old[name]) ?? 0)
          ? [invalid(`status.${name}`, status[name], 'cannot be decremented')]
          : [],
      ),
    ];
  };
}

/** The `status` subresource of a kind, with its rules. */
export function workloadStatus(kind: WorkloadWithStatus): { readonly status: SubresourceStrategy } {
  return { status: { ...statusSubresource, validateUpdate: validateWorkloadStatus(kind) } };
}
