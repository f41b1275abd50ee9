import type { PodTemplateSpec } from '../../../shared/api/types/core-v1';
import type { ApiObject } from '../../../shared/object/object';
import { keptTemplate } from './pod-spec-fields';

/** What most kinds with a template do. */
export const keepsTemplate = { prepareForCreate: withKeptTemplate, prepareForUpdate: withKeptTemplate };

/** The object with `spec.template` as pods keep it. */
export function withKeptTemplate<
  T extends ApiObject & { readonly spec: { readonly template?: PodTemplateSpec } },
>(object: T): T {
  const { template } = object.spec;
  if (template === undefined) return object;
  return { ...object, spec: { ...object.spec, template: keptTemplate(template) } };
}
