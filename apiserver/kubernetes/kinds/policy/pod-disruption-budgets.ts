import type { PodDisruptionBudget } from '../../../../shared/api/types/policy-v1';
import { withoutStrayMark } from '../../../../shared/conversion/policy';
import type { FieldError } from '../../../../shared/errors/field-error';
import { invalid } from '../../../../shared/errors/field-error';
import { pathSegmentName } from '../../../../shared/meta/name-rules';
import type { Strategy } from '../../../engine/registry/strategy';
import { statusSubresource } from '../../../engine/registry/strategy';
import { AGE, NAME } from '../columns/common';
import { tableOf } from '../columns/table';
import type { Kind } from '../kind';
import { validateConditions } from '../rules/conditions';
import { labelSelector } from '../rules/label-selectors';
import { choice, nonNegative } from '../rules/primitives';
import { atMostAll, intOrPercent } from '../rules/rollout';

const AMOUNTS = ['minAvailable', 'maxUnavailable'] as const;
const COUNTS = ['disruptionsAllowed', 'currentHealthy', 'desiredHealthy', 'expectedPods'] as const;

/** When pods that are not ready may be evicted. */
const EVICTION_POLICIES = ['AlwaysAllow', 'IfHealthyBudget'];

const disruptionBudgetRules: Pick<
  Strategy<PodDisruptionBudget>,
  'prepareForCreate' | 'prepareForUpdate' | 'validate' | 'subresources'
> = {
  prepareForCreate: withoutStrayMark,
  prepareForUpdate: withoutStrayMark,
  validate: ({ spec }) => {
    const given = AMOUNTS.filter((field) => spec[field] !== undefined);
    return [
      ...(given.length > 1
        ? [invalid('spec', spec, 'minAvailable and maxUnavailable cannot be both set')]
        : []),
      ...given.flatMap((field): FieldError[] => [
        ...intOrPercent(spec[field], `spec.${field}`),
        ...atMostAll(spec[field], `spec.${field}`),
      ]),
      ...labelSelector(spec.selector, 'spec.selector'),
      ...(spec.unhealthyPodEvictionPolicy === undefined
        ? []
        : choice(spec.unhealthyPodEvictionPolicy, 'spec.unhealthyPodEvictionPolicy', EVICTION_POLICIES)),
    ];
  },
  subresources: {
    status: {
      ...statusSubresource,
      validateUpdate: ({ status }, _previous, { via }) => [
        ...validateConditions(status?.conditions, 'status.conditions'),
        // The older version never looked at the counts.
        ...(via.version === 'v1beta1' ? [] : COUNTS).flatMap((field) =>
          nonNegative(status?.[field], `status.${field}`),
        ),
      ],
    },
  },
};

const NOT_GIVEN = 'N/A';

const podDisruptionBudgetTable = tableOf<PodDisruptionBudget>([
  NAME,
  { name: 'Min Available', cell: ({ spec }) => String(spec.minAvailable ?? NOT_GIVEN) },
  { name: 'Max Unavailable', cell: ({ spec }) => String(spec.maxUnavailable ?? NOT_GIVEN) },
  { name: 'Allowed Disruptions', type: 'integer', cell: ({ status }) => status?.disruptionsAllowed ?? 0 },
  AGE,
]);

export const podDisruptionBudgets: Kind<PodDisruptionBudget> = {
  strategy: {
    nameRule: pathSegmentName,
    compat: { metadataChecks: 'afterwards' },
    tracksGeneration: true,
    requiresResourceVersion: true,
    ...disruptionBudgetRules,
  },
  table: podDisruptionBudgetTable,
};
