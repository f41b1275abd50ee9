import type { NamespaceCondition } from '../../shared/api/types/core-v1';
import type { Discovery } from '../../shared/client/discovery';
import type { ContentReport } from './content';

/** The findings of one pass over a terminating namespace. */
export interface DeletionReport extends ContentReport {
  readonly discovery: Pick<Discovery, 'failures' | 'malformed'>;
}

interface Finding {
  readonly reason: string;
  readonly message: string;
}

interface ConditionRow {
  readonly type: string;
  /** Reason and message while nothing is wrong; the status is then False. */
  readonly ok: Finding;
  readonly find: (report: DeletionReport) => Finding | undefined;
}

/** The conditions of a terminating namespace with the reasons and messages of Kubernetes v1.21, in its order. */
const CONDITIONS: readonly ConditionRow[] = [
  {
    type: 'NamespaceDeletionDiscoveryFailure',
    ok: { reason: 'ResourcesDiscovered', message: 'All resources successfully discovered' },
    find: ({ discovery: { failures } }) => {
      if (failures.length === 0) return undefined;
      const list = failures.map(({ groupVersion, error }) => `${groupVersion}: ${error.message}`).toSorted();
      const all = `unable to retrieve the complete list of server APIs: ${list.join(', ')}`;
      const message = `Discovery failed for some groups, ${String(failures.length)} failing: ${all}`;
      return { reason: 'DiscoveryFailed', message };
    },
  },
  {
    type: 'NamespaceDeletionGroupVersionParsingFailure',
    ok: { reason: 'ParsedGroupVersions', message: 'All legacy kube types successfully parsed' },
    find: ({ discovery: { malformed } }) => {
      const [first] = malformed;
      if (first === undefined) return undefined;
      return { reason: 'GroupVersionParsingFailed', message: `unexpected GroupVersion string: ${first}` };
    },
  },
  {
    type: 'NamespaceDeletionContentFailure',
    ok: {
      reason: 'ContentDeleted',
      message: 'All content successfully deleted, may be waiting on finalization',
    },
    find: ({ errors }) => {
      if (errors.length === 0) return undefined;
      const list = errors.map(({ message }) => message).toSorted();
      const message = `Failed to delete all resource types, ${String(errors.length)} remaining: ${list.join(', ')}`;
      return { reason: 'ContentDeletionFailed', message };
    },
  },
  {
    type: 'NamespaceContentRemaining',
    ok: { reason: 'ContentRemoved', message: 'All content successfully removed' },
    find: ({ remaining }) => {
      const list = [...remaining].map(
        ([resource, count]) => `${resource} has ${String(count)} resource instances`,
      );
      if (list.length === 0) return undefined;
      const message = `Some resources are remaining: ${list.toSorted().join(', ')}`;
      return { reason: 'SomeResourcesRemain', message };
    },
  },
  {
    type: 'NamespaceFinalizersRemaining',
    ok: { reason: 'ContentRemoved', message: 'All content successfully removed' },
    find: ({ finalizers }) => {
      const list = [...finalizers].map(([name, count]) => `${name} in ${String(count)} resource instances`);
      if (list.length === 0) return undefined;
      const message = `Some content in the namespace has finalizers remaining: ${list.toSorted().join(', ')}`;
      return { reason: 'SomeFinalizersRemain', message };
    },
  },
];

/** The conditions that report failures instead of remaining work. */
export const FAILURES: ReadonlySet<string> = new Set(CONDITIONS.slice(0, 3).map(({ type }) => type));

/**
 * Returns the conditions after a pass, or undefined if they are unchanged. Other types stay; a transition time changes only with the
 * status. `now` is RFC 3339.
 */
export function conditionsAfter(
  current: readonly NamespaceCondition[],
  report: DeletionReport,
  now: string,
): readonly NamespaceCondition[] | undefined {
  const next = new Map(current.map((condition) => [condition.type, condition]));
  for (const { type, ok, find } of CONDITIONS) {
    const found = find(report);
    const before = next.get(type);
    const status = found === undefined ? 'False' : 'True';
    const { reason, message } = found ?? ok;
    if (before?.status === status && before.reason === reason && before.message === message) continue;
    const lastTransitionTime = before?.status === status ? (before.lastTransitionTime ?? now) : now;
    next.set(type, { type, status, lastTransitionTime, reason, message });
  }
  const conditions = [...next.values()];
  const isSame = conditions.length === current.length && conditions.every((each, at) => each === current[at]);
  return isSame ? undefined : conditions;
}
