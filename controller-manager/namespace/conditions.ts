import type { NamespaceCondition } from '../../shared/api/types/core-v1';
import type { Discovery } from '../../shared/client/discovery';
import type { ContentReport } from './content';

/** What one pass over a terminating namespace found out. */
export interface DeletionReport extends ContentReport {
  readonly discovery: Pick<Discovery, 'failures' | 'malformed'>;
}

interface Finding {
  readonly reason: string;
  readonly message: string;
}

interface ConditionRow {
  readonly type: string;
  /** What stands in the condition while nothing is wrong; its status is then False. */
  readonly ok: Finding;
  readonly find: (report: DeletionReport) => Finding | undefined;
}

/** The conditions of a terminating namespace, with the reasons and messages of Kubernetes v1.21, in its order. */
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

/** The conditions that tell of something broken, and not only of work to be done. */
export const FAILURES: ReadonlySet<string> = new Set(CONDITIONS.slice(0, 3).map(({ type }) => type));

/**
 * The conditions after a pass, or undefined if they say already what there is to say. Conditions of other types stay as they are; a
 * transition time changes with the status only. `now` is RFC 3339.
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
