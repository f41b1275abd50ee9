import type {
  IngressClass,
  IngressClassParametersReference,
  IngressClassSpec,
} from '../../../../shared/api/types/networking-v1';
import type { FieldError } from '../../../../shared/errors/field-error';
import {
  forbiddenField,
  invalid,
  notSupported,
  required,
  tooLong,
} from '../../../../shared/errors/field-error';
import { dns1123LabelProblems, dns1123SubdomainProblems } from '../../../../shared/meta/dns-names';
import { withNextGeneration } from '../../../../shared/meta/generation';
import { deepEqual } from '../../../../shared/object/clone';
import type { Strategy, WriteInfo } from '../../../engine/registry/strategy';
import { AGE, NAME } from '../columns/common';
import { NONE } from '../columns/format';
import { tableOf } from '../columns/table';
import { isOn } from '../field-gates';
import type { Kind } from '../kind';
import { immutable, invalidForEach } from '../rules/primitives';
import { typedReference } from '../rules/references';

const CONTROLLER_BYTES_MAX = 250;

const ingressClassRules: Pick<Strategy<IngressClass>, 'validateNew' | 'validateUpdate'> = {
  validateNew: ({ spec }, info) => validateSpec(spec, info),
  validateUpdate: ({ spec }, previous, info) => [
    ...immutable(spec.controller ?? '', previous.spec.controller ?? '', 'spec.controller'),
    ...validateSpec(spec, info),
  ],
};

function validateSpec({ controller = '', parameters }: IngressClassSpec, info: WriteInfo): FieldError[] {
  return [
    ...(Buffer.byteLength(controller) > CONTROLLER_BYTES_MAX
      ? [tooLong('spec.controller', controller, CONTROLLER_BYTES_MAX)]
      : []),
    ...domainPrefixedPath(controller, 'spec.controller'),
    ...(parameters === undefined
      ? []
      : [...typedReference(parameters, 'spec.parameters'), ...validateScope(parameters, info)]),
  ];
}

const SCOPE = 'spec.parameters.scope';
const SCOPES = ['Cluster', 'Namespace'];
const SPACE = 'spec.parameters.namespace';

/** Where the parameters are: in a namespace, which is named then, or of the cluster. */
function validateScope(
  { scope, namespace }: IngressClassParametersReference,
  { settings }: WriteInfo,
): FieldError[] {
  const isNone = scope === undefined || scope === null;
  if (isNone && isOn(settings, 'IngressClassNamespacedParams')) return [required(SCOPE)];
  if (isNone && namespace === undefined) return [];
  if (isNone || !SCOPES.includes(scope)) return [notSupported(SCOPE, scope ?? '', SCOPES)];
  if (scope === 'Cluster') {
    return namespace === undefined ? [] : [forbiddenField(SPACE, "`parameters.scope` is set to 'Cluster'")];
  }
  if (namespace === undefined) return [required(SPACE, "`parameters.scope` is set to 'Namespace'")];
  return invalidForEach(dns1123LabelProblems(namespace), namespace, SPACE);
}

const PATH = /^[A-Za-z0-9/\-._~%!$&'()*+,;=:]+$/;

const PATH_PROBLEM = `Invalid path (regex used for validation is '${PATH.source.slice(1, -1)}')`;

/** A domain-prefixed path such as `example.com/some/path` names the controller. */
function domainPrefixedPath(value: string, path: string): FieldError[] {
  if (value === '') return [required(path)];
  const slash = value.indexOf('/');
  const domain = value.slice(0, Math.max(slash, 0));
  const rest = value.slice(slash + 1);
  if (slash <= 0 || rest === '') {
    return [invalid(path, value, 'must be a domain-prefixed path (such as "acme.io/foo")')];
  }
  return [
    ...invalidForEach(dns1123SubdomainProblems(domain), domain, path),
    ...(PATH.test(rest) ? [] : [invalid(path, rest, PATH_PROBLEM)]),
  ];
}

/** The scope of parameters belongs to a feature that is off by default; a class that has had one keeps it. */
const ingressClassStrategy: Strategy<IngressClass> = {
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

const ingressClassTable = tableOf<IngressClass>([
  NAME,
  { name: 'Controller', cell: ({ spec }) => spec.controller ?? '' },
  { name: 'Parameters', cell: parametersText },
  AGE,
]);

function parametersText({ spec: { parameters } }: IngressClass): string {
  if (parameters === undefined) return NONE;
  const { apiGroup, kind, name } = parameters;
  return apiGroup === undefined ? `${kind}/${name}` : `${kind}.${apiGroup}/${name}`;
}

export const ingressClasses: Kind<IngressClass> = {
  strategy: ingressClassStrategy,
  table: ingressClassTable,
};
