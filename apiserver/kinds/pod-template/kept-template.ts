import type { Json } from '../../../shared/object/accessors';
import { optionalRecord } from '../../../shared/object/accessors';
import type { ApiObject } from '../../../shared/object/object';
import { keptTemplate } from './pod-spec-fields';

/** `change` applied to the spec, where there is one. */
export function withSpec(object: ApiObject, change: (spec: Json) => Json): ApiObject {
  const spec = optionalRecord(object['spec']);
  return spec === undefined ? object : { ...object, spec: change(spec) };
}

/** A spec with its `template` as pods keep it. */
export function withTemplate(spec: Json): Json {
  return spec['template'] === undefined ? spec : { ...spec, template: keptTemplate(spec['template']) };
}

/** The object with `spec.template` as pods keep it. */
export function withKeptTemplate(object: ApiObject): ApiObject {
  return withSpec(object, withTemplate);
}

/** What most kinds with a template do. */
export const keepsTemplate = { prepareForCreate: withKeptTemplate, prepareForUpdate: withKeptTemplate };

/** Where most kinds have it. */
export const TEMPLATE = 'spec.template';
