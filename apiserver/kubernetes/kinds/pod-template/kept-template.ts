import type { PodTemplateSpec } from '../../../../shared/api/types/core-v1';
import type { ApiObject } from '../../../../shared/object/object';
import type { WriteInfo } from '../../../engine/registry/strategy';
import { keptTemplate } from './pod-spec-fields';

/** What most kinds with a template do. */
export const keepsTemplate = {
  prepareForCreate: <T extends Templated>(object: T, info: WriteInfo): T => withKeptTemplate(object, info),
  prepareForUpdate: <T extends Templated>(next: T, previous: T, info: WriteInfo): T =>
    withKeptTemplate(next, info, previous),
};

type Templated = ApiObject & { readonly spec: { readonly template?: PodTemplateSpec } };

/** The object with `spec.template` as pods keep it. */
export function withKeptTemplate<T extends Templated>(object: T, info: WriteInfo, previous?: T): T {
  const { template } = object.spec;
  if (template === undefined) return object;
  return {
    ...object,
    spec: { ...object.spec, template: keptTemplate(template, info, previous?.spec.template) },
  };
}
