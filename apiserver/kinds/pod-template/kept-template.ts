import type { PodTemplateSpec } from '../../../shared/api/types/core-v1';
import type { ApiObject } from '../../../shared/object/object';
import type { WriteInfo } from '../../registry/strategy';
import { keptTemplate } from './pod-spec-fields';

/** What most kinds with a template do. */
export const keepsTemplate = {
  prepareForCreate: withKeptTemplate,
  prepareForUpdate: <T extends Templated>(next: T, _previous: T, info: WriteInfo): T =>
    withKeptTemplate(next, info),
};

type Templated = ApiObject & { readonly spec: { readonly template?: PodTemplateSpec } };

/** The object with `spec.template` as pods keep it. */
export function withKeptTemplate<T extends Templated>(object: T, info: WriteInfo): T {
  const { template } = object.spec;
  if (template === undefined) return object;
  return { ...object, spec: { ...object.spec, template: keptTemplate(template, info) } };
}
