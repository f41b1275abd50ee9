import { withNextGeneration } from '../../../../shared/meta/generation';
import type { IngressClass } from '../../../../shared/api/types/networking-v1';
import { deepEqual } from '../../../../shared/object/clone';
import type { Strategy } from '../../../engine/registry/strategy';
import { isOn } from '../field-gates';
import { ingressClassRules } from './ingress-classes-rules';

/** The scope of parameters belongs to a feature that is off by default; a class that has had one keeps it. */
export const ingressClasses: Strategy<IngressClass> = {
  tracksGeneration: true,
  ...ingressClassRules,
  prepareForCreate: (object, { settings, via }) => {
    if (!isOn(settings, 'IngressClassNamespacedParams')) return withoutScope(object);
    // Upstream fills in nothing for clients of v1beta1, whose classes it refuses then.
    return via.version === 'v1beta1' ? object : withDefaultScope(object);
  },
  prepareForUpdate(next, previous, { settings }) {
    if (isOn(settings, 'IngressClassNamespacedParams')) return withDefaultScope(next);
    if (hasScope(previous)) return next;
    const kept = withoutScope(next);
    return deepEqual(next.spec, previous.spec) || !deepEqual(kept.spec, previous.spec)
      ? kept
      : withNextGeneration(kept, previous);
  },
};

function withDefaultScope(object: IngressClass): IngressClass {
  const { parameters } = object.spec;
  if (parameters === undefined || hasScope(object)) return object;
  return { ...object, spec: { ...object.spec, parameters: { ...parameters, scope: 'Cluster' } } };
}

function hasScope({ spec: { parameters } }: IngressClass): boolean {
  return typeof parameters?.scope === 'string';
}

function withoutScope(object: IngressClass): IngressClass {
  const { parameters: given } = object.spec;
  if (given === undefined) return object;
  const { namespace: _namespace, ...parameters } = given;
  return { ...object, spec: { ...object.spec, parameters: { ...parameters, scope: null } } };
}
