import type { GoValue } from '../../../../shared/errors/go-values';
import { goStringMap, goStrings, goStruct, goStructs } from '../../../../shared/errors/go-values';
import { goQuote } from '../../../../shared/errors/go-quote';
import type { LabelSelectorExpression, LabelSelectorObject } from '../../../../shared/meta/labels';

/** A label selector as refusals show it, or nothing where there is none; `emptied` are the names of the empty maps and lists sent there. */
export function selectorInGo(
  selector: LabelSelectorObject | null | undefined,
  emptied: ReadonlySet<string> = NONE,
): GoValue | null {
  if (selector === undefined || selector === null) return null;
  const { matchLabels, matchExpressions = [] } = selector;
  const expressions =
    matchExpressions.length === 0
      ? `[]${REQUIREMENT}${emptied.has('matchExpressions') ? '{}' : '(nil)'}`
      : String(goStructs(REQUIREMENT, matchExpressions.map(requirementInGo)));
  return goStruct('v1.LabelSelector', {
    MatchLabels: String(labelsInGo(matchLabels, emptied.has('matchLabels'))),
    MatchExpressions: expressions,
  });
}

const NONE: ReadonlySet<string> = new Set();

const REQUIREMENT = 'v1.LabelSelectorRequirement';

function requirementInGo({ key = '', operator = '', values = [] }: LabelSelectorExpression): GoValue {
  return goStruct(REQUIREMENT, {
    Key: goQuote(key),
    Operator: goQuote(operator),
    Values: values.length === 0 ? '[]string(nil)' : String(goStrings(values)),
  });
}

/** Labels as refusals show them; `isEmptied`: an empty map of them was sent. */
export function labelsInGo(labels: Readonly<Record<string, string>> | undefined, isEmptied = false): GoValue {
  const isNone = labels === undefined || Object.keys(labels).length === 0;
  return goStringMap(isNone ? (isEmptied ? {} : undefined) : labels);
}
