import type { PodSecurityContext } from '../../../../../shared/api/types/core-v1';
import type { IDRange } from '../../../../../shared/api/types/policy-v1beta1';
import type { FieldError } from '../../../../../shared/errors/field-error';
import { invalid } from '../../../../../shared/errors/field-error';
import { goIntegers } from '../../../../../shared/errors/go-values';
import type { Int64 } from '../../../../../shared/object/values';
import { ownKeyMap } from '../../../../../shared/own-key-map';
import type { ContainerStrategy, PodStrategy } from '../strategy';
import { NOTHING } from '../strategy';
import { isInRanges, textOfRanges } from './id-ranges';
import { withPodContext } from '../pod-context';

interface GroupOptions {
  readonly rule?: string;
  readonly ranges?: readonly IDRange[];
}

/** The group of volumes; undefined for incomplete options, like the next two. */
export function fsGroupStrategy(options: GroupOptions): PodStrategy | undefined {
  const rule = ruleOf(options);
  return (
    rule &&
    ofPod(
      rule,
      'fsGroup',
      (group) => group,
      ({ fsGroup }) => fsGroup,
    )
  );
}

export function supplementalGroupsStrategy(options: GroupOptions): PodStrategy | undefined {
  const rule = ruleOf(options);
  return (
    rule &&
    ofPod(
      rule,
      'supplementalGroups',
      (group) => [group],
      ({ supplementalGroups }) => supplementalGroups,
    )
  );
}

/** The primary group of a container's process. */
export function runAsGroupStrategy(
  options: GroupOptions = { rule: 'RunAsAny' },
): ContainerStrategy | undefined {
  const rule = ruleOf(options);
  if (rule === undefined) return undefined;
  const { filled, problems } = rule;
  return {
    fill: ({ runAsGroup }) =>
      runAsGroup === undefined && filled !== undefined ? { runAsGroup: filled } : NOTHING,
    // The path is upstream's: it ends before the field.
    problems: ({ effective: { runAsGroup }, path }) =>
      problems(runAsGroup === undefined ? [] : [runAsGroup], `${path}.securityContext`),
  };
}

interface GroupRule {
  /** The default group of a pod. */
  readonly filled: Int64 | undefined;
  readonly problems: (groups: readonly Int64[], path: string) => readonly FieldError[];
}

const RUN_AS_ANY: GroupRule = { filled: undefined, problems: () => [] };

const RULES = ownKeyMap<(first: IDRange | undefined, ranges: readonly IDRange[]) => GroupRule | undefined>({
  MustRunAs: (first, ranges) =>
    first && {
      filled: first.min,
      problems: (groups, path) =>
        groups.length === 0
          ? [invalid(path, goIntegers(groups), 'unable to validate empty groups against required ranges')]
          : outside(groups, ranges, path),
    },
  MayRunAs: (first, ranges) =>
    first && { filled: undefined, problems: (groups, path) => outside(groups, ranges, path) },
  RunAsAny: () => RUN_AS_ANY,
});

function ruleOf({ rule = '', ranges = [] }: GroupOptions): GroupRule | undefined {
  return RULES.get(rule)?.(ranges[0], ranges);
}

function outside(groups: readonly Int64[], ranges: readonly IDRange[], path: string): readonly FieldError[] {
  return groups
    .filter((group) => !isInRanges(group, ranges))
    .map((group) =>
      invalid(
        path,
        goIntegers(groups),
        `group ${String(group)} must be in the ranges: ${textOfRanges(ranges)}`,
      ),
    );
}

/** For a field of the pod's security context with one group or several. */
function ofPod<Field extends 'fsGroup' | 'supplementalGroups'>(
  { filled, problems }: GroupRule,
  field: Field,
  valueOf: (group: Int64) => PodSecurityContext[Field],
  read: (context: PodSecurityContext) => Int64 | readonly Int64[] | undefined,
): PodStrategy {
  return {
    fill: (pod) =>
      filled === undefined || read(pod.spec.securityContext ?? {}) !== undefined
        ? pod
        : withPodContext(pod, { [field]: valueOf(filled) }),
    problems({ spec: { securityContext = {} } }) {
      const value = read(securityContext) ?? [];
      return problems(Array.isArray(value) ? value : [value as Int64], `spec.securityContext.${field}`);
    },
  };
}
