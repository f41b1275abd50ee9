import type { ApiObject } from '../../../shared/object/object';
import type { Strategy } from '../../registry/strategy';
import type { Json } from '../../../shared/object/accessors';
import { optionalRecord, record } from '../../../shared/object/accessors';
import { ingressClassRules } from './ingress-classes-rules';

/** Parameters have no scope in v1.21: it belongs to a feature that is off there. A class that has had one keeps it. */
export const ingressClasses: Strategy = {
  tracksGeneration: true,
  ...ingressClassRules,
  prepareForCreate: withoutScope,
  prepareForUpdate: (next, previous) => (hasScope(previous) ? next : withoutScope(next)),
};

function parametersOf(object: ApiObject): Json | undefined {
  return optionalRecord(record(object['spec'])['parameters']);
}

function hasScope(object: ApiObject): boolean {
  return typeof parametersOf(object)?.['scope'] === 'string';
}

function withoutScope(object: ApiObject): ApiObject {
  const given = parametersOf(object);
  // A scope that nobody gave is kept as null, so that writing what is stored again changes nothing.
  if (given === undefined || (!hasScope(object) && given['namespace'] === undefined)) return object;
  const { scope: _scope, namespace: _namespace, ...parameters } = given;
  return { ...object, spec: { ...record(object['spec']), parameters } };
}
