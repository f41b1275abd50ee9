import type { NodeSelectorTerm } from '../../../../shared/api/types/core-v1';
import type { LabelSelector } from '../../../../shared/api/types/meta-v1';
import { labelValueProblems } from '../../../../shared/meta/dns-names';
import { DEPRECATED_NODE_LABELS } from '../../../../shared/deprecated-names';

/** Returns what to use instead of a label of nodes; undefined for one that is not deprecated. Source: pkg/api/node of v1.36. */
export function nodeLabelAdvice(label: string): string | undefined {
  return DEPRECATED_NODE_LABELS.get(label);
}

/** Returns the warnings about deprecated labels in a selector of nodes. */
export function nodeSelectorWarnings(selector: LabelSelector | undefined, path: string): readonly string[] {
  const { matchExpressions = [], matchLabels = {} } = selector ?? {};
  return [
    ...matchExpressions.flatMap(({ key }, at) =>
      adviceAbout(key, `${path}.matchExpressions[${String(at)}].key: ${key} is `),
    ),
    ...Object.keys(matchLabels).flatMap((key) => adviceAbout(key, `${path}.matchLabels.${key}: `)),
  ];
}

/** Returns the warnings about deprecated labels of a term, with `checksValues` also about values that no label has. */
export function nodeTermWarnings(
  { matchExpressions = [] }: NodeSelectorTerm,
  path: string,
  { checksValues }: { readonly checksValues: boolean },
): readonly string[] {
  return matchExpressions.flatMap(({ key, values = [] }, index) => {
    const at = `${path}.matchExpressions[${String(index)}]`;
    const wrong = checksValues ? values : [];
    return [
      ...adviceAbout(key, `${at}.key: ${key} is `),
      ...wrong.flatMap((value, place) =>
        labelValueProblems(value).map(
          (problem) => `${at}.values[${String(place)}]: ${value} is invalid, ${problem}`,
        ),
      ),
    ];
  });
}

function adviceAbout(label: string, before: string): readonly string[] {
  const advice = nodeLabelAdvice(label);
  return advice === undefined ? [] : [`${before}${advice}`];
}
