import type { FieldError } from '../../../shared/errors/field-error';
import { invalid, required } from '../../../shared/errors/field-error';
import type { LabelSelector, LabelSelectorObject } from '../../../shared/meta/labels';
import { labelSelectorOf, matchesLabels } from '../../../shared/meta/labels';
import { SelectorError } from '../../../shared/meta/selector-error';
import { validateLabelSelector } from '../../../shared/meta/validate-labels';
import { optionalRecord, record, stringMap } from '../../../shared/object/accessors';

/** The selector of a workload, which must select the pods of its own template. */

/** What the selector selects (nothing, where it is absent), or undefined if it is malformed. */
export function parsedSelector(value: unknown): LabelSelector | undefined {
  try {
    return labelSelectorOf(selectorObject(value));
  } catch (error) {
    if (error instanceof SelectorError) return undefined;
    throw error;
  }
}

/** The selector is there, well formed and not empty. */
export function validateOwnSelector(value: unknown, path: string, kind: string): FieldError[] {
  const selector = selectorObject(value);
  if (selector === undefined) return [required(path)];
  return [...validateLabelSelector(selector, path), ...notEmpty(value, path, kind)];
}

/** A selector that is there says something. */
export function notEmpty(value: unknown, path: string, kind: string): FieldError[] {
  const selector = selectorObject(value);
  if (selector === undefined || saysSomething(selector)) return [];
  return [invalid(path, value, `empty selector is invalid for ${kind}`)];
}

/** The labels of the template are what the selector looks for. */
export function selectsTemplate(selector: LabelSelector, template: unknown, path: string): FieldError[] {
  const labels = stringMap(record(record(template)['metadata'])['labels']);
  if (selector.length === 0 || matchesLabels(selector, labels)) return [];
  return [invalid(`${path}.metadata.labels`, labels, '`selector` does not match template `labels`')];
}

function selectorObject(value: unknown): LabelSelectorObject | undefined {
  return optionalRecord(value);
}

function saysSomething({ matchLabels = {}, matchExpressions = [] }: LabelSelectorObject): boolean {
  return Object.keys(matchLabels).length + matchExpressions.length > 0;
}
