import type { LabelSelector, LabelSelectorRequirement } from '../../../../shared/api/types/meta-v1';
import type { Affinity, PodAffinity, PodAffinityTerm, PodSpec } from '../../../../shared/api/types/core-v1';
import type { KindSettings } from '../../../engine/registry/strategy';
import { isOn } from '../field-gates';

type Labels = Readonly<Record<string, string>>;

/**
 * The spec of a new pod whose selectors have expressions for the keys of labels that it names beside them. Source: mutatePodAffinity and
 * mutateTopologySpreadConstraints, v1.36.
 */
export function withLabelKeys(spec: PodSpec, labels: Labels, settings: KindSettings): PodSpec {
  const { affinity, topologySpreadConstraints: constraints } = spec;
  const mergesSpreads = isOn(settings, 'MatchLabelKeysInPodTopologySpreadSelectorMerge');
  return {
    ...spec,
    ...(affinity === undefined ? {} : { affinity: withAffinityKeys(affinity, labels) }),
    ...(constraints === undefined || !mergesSpreads
      ? {}
      : { topologySpreadConstraints: constraints.map((each) => withKeys(each, labels)) }),
  };
}

function withAffinityKeys(affinity: Affinity, labels: Labels): Affinity {
  const { podAffinity, podAntiAffinity } = affinity;
  return {
    ...affinity,
    ...(podAffinity === undefined ? {} : { podAffinity: withTermKeys(podAffinity, labels) }),
    ...(podAntiAffinity === undefined ? {} : { podAntiAffinity: withTermKeys(podAntiAffinity, labels) }),
  };
}

const REQUIRED = 'requiredDuringSchedulingIgnoredDuringExecution';
const PREFERRED = 'preferredDuringSchedulingIgnoredDuringExecution';

function withTermKeys(affinity: PodAffinity, labels: Labels): PodAffinity {
  const { [REQUIRED]: required, [PREFERRED]: preferred } = affinity;
  return {
    ...affinity,
    ...(required === undefined ? {} : { [REQUIRED]: required.map((term) => withKeys(term, labels)) }),
    ...(preferred === undefined
      ? {}
      : {
          [PREFERRED]: preferred.map((each) => ({
            ...each,
            podAffinityTerm: withKeys(each.podAffinityTerm, labels),
          })),
        }),
  };
}

/** A selector that is absent selects nothing, and stays so. */
function withKeys<T extends Pick<PodAffinityTerm, 'labelSelector' | 'matchLabelKeys' | 'mismatchLabelKeys'>>(
  term: T,
  labels: Labels,
): T {
  const { labelSelector: selector, matchLabelKeys: keys = [], mismatchLabelKeys: others = [] } = term;
  const added = [...expressions(keys, 'In', labels), ...expressions(others, 'NotIn', labels)];
  if (selector === undefined || added.length === 0) return term;
  const labelSelector: LabelSelector = {
    ...selector,
    matchExpressions: [...(selector.matchExpressions ?? []), ...added],
  };
  return { ...term, labelSelector };
}

function expressions(
  keys: readonly string[],
  operator: 'In' | 'NotIn',
  labels: Labels,
): readonly LabelSelectorRequirement[] {
  return keys.flatMap((key) => {
    const value = Object.hasOwn(labels, key) ? labels[key] : undefined;
    return value === undefined ? [] : [{ key, operator, values: [value] }];
  });
}
