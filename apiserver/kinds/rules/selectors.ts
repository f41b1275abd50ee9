import type { FieldError } from '../../../shared/errors/field-error';
import { invalid, required } from '../../../shared/errors/field-error';
import type { LabelSelector, LabelSelectorObject } from '../../../shared/meta/labels';
import { labelSelectorOf, matchesLabels } from '../../../shared/meta/labels';
import { SelectorError } from '../../../shared/meta/selector-error';
import { validateLabelSelector } from '../../../shared/meta/validate-labels';
import type { PodTemplateSpec } from '../../../shared/api/types/core-v1';
import { labelsInGo, selectorInGo } from './selector-in-go';

/** The selector of a workload, which must select the pods of its own template. */

/** As it stands in a spec, where it may be missing. */
type Given = LabelSelectorObject | null | undefined;

/** What the selector selects (nothing, where it is absent), or undefined if it is malformed. */
export function parsedSelector(given: Given): LabelSelector | undefined {
  try {
    return labelSelectorOf(given);
  } catch (error) {
    if (error instanceof SelectorError) return undefined;
    throw error;
  }
}

/** The selector is there, well formed and not empty. */
export function validateOwnSelector(given: Given, path: string, kind: string): FieldError[] {
  if (given === undefined || given === null) return [required(path)];
  return [...validateLabelSelector(given, path), ...notEmpty(given, path, kind)];
}

/** A selector that is there says something. */
export function notEmpty(given: Given, path: string, kind: string): FieldError[] {
  if (given === undefined || given === null || saysSomething(given)) return [];
  return [invalid(path, selectorInGo(given), `empty selector is invalid for ${kind}`)];
}

/** The labels of the template are what the selector looks for. */
export function selectsTemplate(
  selector: LabelSelector,
  template: PodTemplateSpec,
  path: string,
): FieldError[] {
  const { labels = {} } = template.metadata;
  if (selector.length === 0 || matchesLabels(selector, labels)) return [];
  const why = '`selector` does not match template `labels`';
  return [invalid(`${path}.metadata.labels`, labelsInGo(labels), why)];
}

function saysSomething({ matchLabels = {}, matchExpressions = [] }: LabelSelectorObject): boolean {
  return Object.keys(matchLabels).length + matchExpressions.length > 0;
}
