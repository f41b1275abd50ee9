import type { FieldError } from '../../../../shared/errors/field-error';
import { invalid, required } from '../../../../shared/errors/field-error';
import type { LabelSelector, LabelSelectorObject } from '../../../../shared/meta/labels';
import { toLabelSelector, matchesLabels } from '../../../../shared/meta/labels';
import { SelectorError } from '../../../../shared/meta/selector-error';
import { validateLabelSelector } from '../../../../shared/meta/validate-labels';
import type { PodTemplateSpec } from '../../../../shared/api/types/core-v1';
import { labelsInGo, selectorInGo } from './selector-in-go';

/** The selector of a workload, which must select the pods of its own template. */

/** A selector of a spec, which may be missing. */
type Given = LabelSelectorObject | null | undefined;

/** What the selector selects (nothing, where it is absent), or undefined if it is malformed. */
export function parsedSelector(given: Given): LabelSelector | undefined {
  try {
    return toLabelSelector(given);
  } catch (error) {
    if (error instanceof SelectorError) return undefined;
    throw error;
  }
}

/** The selector of the spec is there, well formed and not empty; of `emptied`, what is shown of it. */
export function validateOwnSelector(given: Given, kind: string, emptied: Emptied): FieldError[] {
  if (given === undefined || given === null) return [required(PATH)];
  return [...validateLabelSelector(given, PATH), ...notEmpty(given, kind, emptied)];
}

/** A selector that is there says something. */
export function notEmpty(given: Given, kind: string, emptied: Emptied): FieldError[] {
  if (given === undefined || given === null || saysSomething(given)) return [];
  return [invalid(PATH, selectorInGo(given, emptied), `empty selector is invalid for ${kind}`)];
}

/** The names of the empty maps and lists that were sent in the spec. */
type Emptied = ReadonlySet<string>;

const PATH = 'spec.selector';

/** The labels of the template in the spec are what the selector looks for. */
export function selectsTemplate(
  selector: LabelSelector,
  template: PodTemplateSpec,
  emptied: Emptied,
): FieldError[] {
  const { labels = {} } = template.metadata;
  if (selector.length === 0 || matchesLabels(selector, labels)) return [];
  const why = '`selector` does not match template `labels`';
  return [invalid('spec.template.metadata.labels', labelsInGo(labels, emptied.has('labels')), why)];
}

function saysSomething({ matchLabels = {}, matchExpressions = [] }: LabelSelectorObject): boolean {
  return Object.keys(matchLabels).length + matchExpressions.length > 0;
}
