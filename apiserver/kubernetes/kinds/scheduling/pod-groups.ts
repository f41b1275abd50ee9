import type {
  PodGroup,
  PodGroupResourceClaim,
  PodGroupSchedulingPolicy,
  PodGroupSpec,
  PodGroupStatus,
  PodGroupTemplate,
  PodGroupTemplateReference,
} from '../../../../shared/api/types/scheduling-v1alpha2';
import type { FieldError } from '../../../../shared/errors/field-error';
import { duplicate, invalid, notSupported, required, tooMany } from '../../../../shared/errors/field-error';
import {
  dns1123LabelProblems,
  dns1123SubdomainProblems,
  qualifiedNameProblems,
} from '../../../../shared/meta/dns-names';
import type { Strategy } from '../../../engine/registry/strategy';
import { statusSubresource } from '../../../engine/registry/strategy';
import { AGE, NAME } from '../columns/common';
import { NONE } from '../columns/format';
import { tableOf } from '../columns/table';
import type { Kind } from '../kind';
import { validateConditions } from '../rules/conditions';
import { forEachItem, immutable, optionalSubdomain, repeatsIn, requiredText } from '../rules/primitives';

const CLAIMS_MAX = 4;
const TOPOLOGIES_MAX = 1;
const PRIORITY_MAX = 1_000_000_000;
const DISRUPTION_MODES = ['Pod', 'PodGroup'];
const FIXED = [
  'podGroupTemplateRef',
  'schedulingPolicy',
  'schedulingConstraints',
  'resourceClaims',
  'disruptionMode',
  'priorityClassName',
  'priority',
] as const;

/** Pods that are scheduled together. Nothing of the spec changes. */
const podGroupRules: Pick<Strategy<PodGroup>, 'validateNew' | 'validateUpdate' | 'subresources'> = {
  validateNew: ({ spec }) => [
    ...(spec.podGroupTemplateRef === null
      ? []
      : validateTemplateRef(spec.podGroupTemplateRef, 'spec.podGroupTemplateRef')),
    ...validateGroup(spec, 'spec'),
  ],
  validateUpdate: (next, previous) =>
    FIXED.flatMap((name) => immutable(next.spec[name], previous.spec[name], `spec.${name}`)),
  subresources: {
    status: {
      ...statusSubresource,
      validateUpdate: ({ spec, status }) => validateStatus(spec, status),
    },
  },
};

/** Validates what a group and a template of groups have in common. */
export function validateGroup(group: PodGroupSpec | PodGroupTemplate, path: string): FieldError[] {
  const { schedulingConstraints, resourceClaims, disruptionMode: mode, priority } = group;
  const topologies = schedulingConstraints?.topology ?? [];
  return [
    ...validatePolicy(group.schedulingPolicy, `${path}.schedulingPolicy`),
    ...(topologies.length > TOPOLOGIES_MAX
      ? [tooMany(`${path}.schedulingConstraints.topology`, topologies.length, TOPOLOGIES_MAX)]
      : forEachItem(topologies, `${path}.schedulingConstraints.topology`, ({ key }, at) =>
          requiredText(key, `${at}.key`, qualifiedNameProblems),
        )),
    ...validateClaims(resourceClaims ?? [], `${path}.resourceClaims`),
    ...(mode === undefined || DISRUPTION_MODES.includes(mode)
      ? []
      : [notSupported(`${path}.disruptionMode`, mode, DISRUPTION_MODES)]),
    ...optionalSubdomain(group.priorityClassName, `${path}.priorityClassName`),
    ...(priority === undefined || priority <= PRIORITY_MAX
      ? []
      : [invalid(`${path}.priority`, priority, `must be less than or equal to ${String(PRIORITY_MAX)}`)]),
  ];
}

function validatePolicy({ basic, gang }: PodGroupSchedulingPolicy, path: string): FieldError[] {
  const count = gang?.minCount ?? 1;
  return [
    ...oneOf({ basic, gang }, path),
    ...(count === 0 ? [required(`${path}.gang.minCount`)] : []),
    ...(count < 0 ? [invalid(`${path}.gang.minCount`, count, 'must be greater than or equal to 1')] : []),
  ];
}

/** Exactly one of the members must be there. */
function oneOf(members: Readonly<Record<string, unknown>>, path: string): FieldError[] {
  const names = Object.keys(members);
  const given = names.filter((name) => members[name] !== undefined);
  const list = names.map((name) => `\`${name}\``).join(', ');
  if (given.length === 1) return [];
  return given.length === 0
    ? [invalid(path, '', `must specify one of: ${list}`)]
    : [invalid(path, `{${given.join(', ')}}`, `must specify exactly one of: ${list}`)];
}

function validateClaims(claims: readonly PodGroupResourceClaim[], path: string): FieldError[] {
  if (claims.length > CLAIMS_MAX) return [tooMany(path, claims.length, CLAIMS_MAX)];
  const isRepeated = repeatsIn(claims.map(({ name }) => name));
  return forEachItem(claims, path, (claim, at, index) => {
    const { name, resourceClaimName, resourceClaimTemplateName } = claim;
    return [
      ...(isRepeated(index) ? [duplicate(at, name)] : []),
      ...requiredText(name, `${at}.name`, dns1123LabelProblems),
      ...oneOf({ resourceClaimName, resourceClaimTemplateName }, at),
      ...optionalSubdomain(resourceClaimName, `${at}.resourceClaimName`),
      ...optionalSubdomain(resourceClaimTemplateName, `${at}.resourceClaimTemplateName`),
    ];
  });
}

function validateTemplateRef({ workload }: PodGroupTemplateReference, path: string): FieldError[] {
  if (workload === null) return oneOf({ workload: undefined }, path);
  return [
    ...requiredText(workload.workloadName, `${path}.workload.workloadName`, dns1123SubdomainProblems),
    ...requiredText(
      workload.podGroupTemplateName,
      `${path}.workload.podGroupTemplateName`,
      dns1123LabelProblems,
    ),
  ];
}

function validateStatus(spec: PodGroupSpec, status: PodGroupStatus | undefined): FieldError[] {
  const statuses = status?.resourceClaimStatuses ?? [];
  const names = (spec.resourceClaims ?? []).map(({ name }) => name);
  const path = 'status.resourceClaimStatuses';
  const isRepeated = repeatsIn(statuses.map(({ name }) => name));
  const why = 'must match the name of an entry in `spec.resourceClaims`';
  return [
    ...validateConditions(status?.conditions, 'status.conditions'),
    ...(statuses.length > CLAIMS_MAX
      ? [tooMany(path, statuses.length, CLAIMS_MAX)]
      : forEachItem(statuses, path, ({ name, resourceClaimName }, at, index) => [
          ...(isRepeated(index) ? [duplicate(at, name)] : []),
          ...(names.includes(name) ? [] : [invalid(`${at}.name`, name, why)]),
          ...optionalSubdomain(resourceClaimName, `${at}.resourceClaimName`),
        ])),
  ];
}

function stateOf({ status }: PodGroup): string {
  const conditions = new Map((status?.conditions ?? []).map((each) => [each.type, each]));
  const disrupted = conditions.get('DisruptionTarget');
  if (disrupted !== undefined) return disrupted.reason;
  const scheduled = conditions.get('PodGroupScheduled');
  if (scheduled === undefined) return 'Pending';
  return scheduled.status === 'True' ? 'Scheduled' : 'Unschedulable';
}

export const podGroups: Kind<PodGroup> = {
  strategy: { statusLeavesMetadata: true, ...podGroupRules },
  table: tableOf<PodGroup>([
    NAME,
    {
      name: 'Policy',
      cell: ({ spec }) => (spec.schedulingPolicy.gang === undefined ? 'Basic' : 'Gang'),
    },
    { name: 'Workload', cell: ({ spec }) => spec.podGroupTemplateRef?.workload?.workloadName ?? NONE },
    { name: 'Status', cell: stateOf },
    AGE,
  ]),
};
