import type { IngressClass } from '../../../shared/api/types/networking-v1';
import type { Strategy } from '../../registry/strategy';
import { ingressClassRules } from './ingress-classes-rules';

/** Parameters have no scope in v1.21: it belongs to a feature that is off there. A class that has had one keeps it. */
export const ingressClasses: Strategy<IngressClass> = {
  tracksGeneration: true,
  ...ingressClassRules,
  prepareForCreate: withoutScope,
  prepareForUpdate: (next, previous) => (hasScope(previous) ? next : withoutScope(next)),
};

function hasScope({ spec: { parameters } }: IngressClass): boolean {
  return typeof parameters?.scope === 'string';
}

function withoutScope(object: IngressClass): IngressClass {
  const { parameters: given } = object.spec;
  if (given === undefined) return object;
  const { namespace: _namespace, ...parameters } = given;
  return { ...object, spec: { ...object.spec, parameters: { ...parameters, scope: null } } };
}
