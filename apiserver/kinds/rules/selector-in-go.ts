import type { GoValue } from '../../../shared/errors/go-values';
import { goStringMap, goStrings, goStruct, goStructs } from '../../../shared/errors/go-values';
import { goQuote } from '../../../shared/errors/go-quote';
import type { LabelSelectorExpression, LabelSelectorObject } from '../../../shared/meta/labels';

/** A label selector as refusals show it, or nothing where there is none. */
export function selectorInGo(selector: LabelSelectorObject | null | undefined): GoValue | null {
  if (selector === undefined || selector === null) return null;
  const { matchLabels, matchExpressions = [] } = selector;
  const expressions =
    matchExpressions.length === 0
      ? `[]${REQUIREMENT}(nil)`
      : String(goStructs(REQUIREMENT, matchExpressions.map(requirementInGo)));
  return goStruct('v1.LabelSelector', {
    MatchLabels: String(goStringMap(nilIfEmpty(matchLabels))),
    MatchExpressions: expressions,
  });
}

const REQUIREMENT = 'v1.LabelSelectorRequirement';

function requirementInGo({ key = '', operator = '', values = [] }: LabelSelectorExpression): GoValue {
  return goStruct(REQUIREMENT, {
    Key: goQuote(key),
    Operator: goQuote(operator),
    Values: values.length === 0 ? '[]string(nil)' : String(goStrings(values)),
  });
}

/** The labels of a template as refusals show them. */
export function labelsInGo(labels: Readonly<Record<string, string>> | undefined): GoValue {
  return goStringMap(nilIfEmpty(labels));
}

function nilIfEmpty<Value extends object>(map: Value | undefined): Value | undefined {
  return map === undefined || Object.keys(map).length === 0 ? undefined : map;
}
