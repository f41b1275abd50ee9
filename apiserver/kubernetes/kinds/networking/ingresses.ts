import { isInForce } from '../../../../shared/api/changes';
import type {
  HTTPIngressPath,
  Ingress,
  IngressBackend,
  IngressRule,
  IngressSpec,
  IngressTLS,
  ServiceBackendPort,
} from '../../../../shared/api/types/networking-v1';
import type { FieldError } from '../../../../shared/errors/field-error';
import { invalid, notSupported, required } from '../../../../shared/errors/field-error';
import type { GoValue } from '../../../../shared/errors/go-values';
import { goNoItems, goStructs } from '../../../../shared/errors/go-values';
import {
  dns1035LabelProblems,
  dns1123LabelProblems,
  dns1123SubdomainProblems,
  wildcardSubdomainProblems,
} from '../../../../shared/meta/dns-names';
import { GATES } from '../../../../shared/flags/feature-gate-table';
import { ANNOTATION, GROUP } from '../../../../shared/names';
import { getEmptiedFields } from '../../../../shared/schema/emptied';
import type { Strategy, WriteInfo } from '../../../engine/registry/strategy';
import { statusSubresource } from '../../../engine/registry/strategy';
import { AGE, NAME } from '../columns/common';
import { loadBalancerText, NONE } from '../columns/format';
import { tableOf } from '../columns/table';
import { validateLoadBalancerStatus } from '../core/services/service-rules';
import { isOn } from '../field-gates';
import type { Kind } from '../kind';
import {
  forEachItem,
  invalidForEach,
  isIpAddress,
  optionalForm,
  portNameProblems,
  portNumber,
  requiredText,
} from '../rules/primitives';
import { typedReference } from '../rules/references';
import { keepSpellings } from '../rules/strict-addresses';

/** What older versions let through stays good, through them and for objects that are already so; they have other names too. */
interface Version {
  readonly badSecretNames: boolean;
  readonly badWildcardRules: boolean;
  /** Names of Services may begin with a digit. */
  readonly relaxedServiceNames: boolean;
  readonly names: Names;
}

/** What a version calls the default backend, and the parts of a backend. */
interface Names {
  readonly defaultBackend: string;
  readonly service: string;
  readonly portName: string;
  readonly portNumber: string;
}

const NAMES: Names = {
  defaultBackend: 'defaultBackend',
  service: 'service.name',
  portName: 'service.port.name',
  portNumber: 'service.port.number',
};
const OLD_NAMES: Names = {
  defaultBackend: 'backend',
  service: 'serviceName',
  portName: 'servicePort',
  portNumber: 'servicePort',
};

const ingressRules: Pick<Strategy<Ingress>, 'validateNew' | 'validateUpdate' | 'subresources'> = {
  validateNew: (object, info) => [
    ...validateSpec(object, versionOf(info, undefined)),
    ...oneClassOnly(object),
  ],
  validateUpdate: (next, previous, info) => validateSpec(next, versionOf(info, previous.spec)),
  subresources: {
    status: {
      ...statusSubresource,
      validateUpdate: (next, _previous, { settings }) => validateLoadBalancerStatus(next, settings),
    },
  },
};

function versionOf(
  { via: { version }, settings }: Pick<WriteInfo, 'settings' | 'via'>,
  previous: IngressSpec | undefined,
): Version {
  const isOld = version === 'v1beta1';
  const { tls = [], rules = [] } = previous ?? {};
  return {
    names: isOld ? OLD_NAMES : NAMES,
    relaxedServiceNames:
      isOn(settings, 'RelaxedServiceNameValidation') ||
      (GATES.has('RelaxedServiceNameValidation') && serviceNamesOf(previous).some(isRelaxedName)),
    badSecretNames: isOld || tls.some((each) => secretName(each, '').length > 0),
    badWildcardRules:
      isOld || rules.some((rule) => isWildcard(rule.host ?? '') && validateHttp(rule, '', STRICT).length > 0),
  };
}

/** The rules by which older releases validated rules of wildcard hosts. */
const STRICT: Pick<Version, 'names' | 'relaxedServiceNames'> = { names: NAMES, relaxedServiceNames: false };

function serviceNamesOf({ defaultBackend, rules = [] }: IngressSpec = {}): readonly string[] {
  const backends = rules.flatMap(({ http }) => (http?.paths ?? []).map(({ backend }) => backend));
  return [defaultBackend, ...backends].flatMap((each) =>
    each?.service === undefined ? [] : [each.service.name],
  );
}

function isRelaxedName(name: string): boolean {
  return dns1123LabelProblems(name).length === 0 && dns1035LabelProblems(name).length > 0;
}

function oneClassOnly({ metadata, spec }: Ingress): FieldError[] {
  const annotation = metadata.annotations?.[ANNOTATION.ingressClass];
  if (annotation === undefined || spec.ingressClassName === undefined) return [];
  const mayBeEqual = isInForce('equalIngressClasses');
  if (mayBeEqual && annotation === spec.ingressClassName) return [];
  const why = mayBeEqual
    ? 'must match `ingressClassName` when both are specified'
    : 'can not be set when the class field is also set';
  return [invalid(`annotations.${ANNOTATION.ingressClass}`, annotation, why)];
}

function noRules(isEmptied: boolean): GoValue {
  return isEmptied ? goStructs('networking.IngressRule', []) : goNoItems('networking.IngressRule');
}

function validateSpec(object: Ingress, version: Version): FieldError[] {
  const { spec } = object;
  const { rules = [], defaultBackend: fallback, tls = [], ingressClassName } = spec;
  return [
    ...(rules.length === 0 && fallback === undefined
      ? [
          invalid(
            'spec',
            noRules(getEmptiedFields(object, 'spec').has('rules')),
            `either \`${version.names.defaultBackend}\` or \`rules\` must be specified`,
          ),
        ]
      : []),
    ...(fallback === undefined
      ? []
      : validateBackend(fallback, `spec.${version.names.defaultBackend}`, version)),
    ...forEachItem(rules, 'spec.rules', (rule, path) => validateRule(rule, path, version)),
    ...forEachItem(tls, 'spec.tls', (each, path) => [
      ...forEachItem(each.hosts ?? [], `${path}.hosts`, hostName),
      ...(version.badSecretNames ? [] : secretName(each, path)),
    ]),
    ...(ingressClassName === undefined ? [] : className(ingressClassName)),
  ];
}

function secretName(tls: IngressTLS, path: string): FieldError[] {
  return optionalForm(tls.secretName, `${path}.secretName`, dns1123SubdomainProblems);
}

function className(name: string): FieldError[] {
  return invalidForEach(dns1123SubdomainProblems(name), name, 'spec.ingressClassName');
}

function validateRule(rule: IngressRule, path: string, version: Version): FieldError[] {
  const { host = '' } = rule;
  const isExcused = isWildcard(host) && version.badWildcardRules;
  return [
    ...(isIpAddress(host) ? [invalid(`${path}.host`, host, 'must be a DNS name, not an IP address')] : []),
    ...(host === '' ? [] : hostName(host, `${path}.host`)),
    ...(isExcused ? [] : validateHttp(rule, path, version)),
  ];
}

function isWildcard(host: string): boolean {
  return host.includes('*');
}

/** A domain name whose first label may be an asterisk. */
function hostName(host: string, path: string): FieldError[] {
  const problemsOf = isWildcard(host) ? wildcardSubdomainProblems : dns1123SubdomainProblems;
  return invalidForEach(problemsOf(host), host, path);
}

function validateHttp(
  { http }: IngressRule,
  path: string,
  version: Pick<Version, 'names' | 'relaxedServiceNames'>,
): FieldError[] {
  if (http === undefined) return [];
  const paths = http.paths ?? [];
  if (paths.length === 0) return [required(`${path}.http.paths`)];
  return forEachItem(paths, `${path}.http.paths`, (each, at) => [
    ...validatePath(each, at),
    // As upstream, a path without a type is not validated further.
    ...((each.pathType ?? undefined) === undefined
      ? []
      : validateBackend(each.backend, `${at}.backend`, version)),
  ]);
}

const PATH_TYPES = ['Exact', 'ImplementationSpecific', 'Prefix'];

/** What a path that is matched literally must not contain, or end in: it would never match a cleaned one. */
const NEVER_INSIDE = ['//', '/./', '/../', '%2f', '%2F'];
const NEVER_AT_END = ['/..', '/.'];

function validatePath({ pathType: type, path = '' }: HTTPIngressPath, at: string): FieldError[] {
  const field = `${at}.path`;
  const isAbsolute = path.startsWith('/');
  if (type === undefined || type === null) return [required(`${at}.pathType`, 'pathType must be specified')];
  if (!PATH_TYPES.includes(type)) return [notSupported(`${at}.pathType`, type, PATH_TYPES)];
  if (type === 'ImplementationSpecific') {
    return path === '' || isAbsolute ? [] : [invalid(field, path, 'must be an absolute path')];
  }
  return [
    ...(isAbsolute ? [] : [invalid(field, path, 'must be an absolute path')]),
    ...NEVER_INSIDE.filter((part) => path.includes(part)).map((part) =>
      invalid(field, path, `must not contain '${part}'`),
    ),
    ...NEVER_AT_END.filter((part) => path.endsWith(part)).map((part) =>
      invalid(field, path, `cannot end with '${part}'`),
    ),
  ];
}

function validateBackend(
  { resource, service }: IngressBackend,
  path: string,
  { names, relaxedServiceNames }: Pick<Version, 'names' | 'relaxedServiceNames'>,
): FieldError[] {
  if (resource !== undefined) {
    return service === undefined
      ? typedReference(resource, `${path}.resource`)
      : [invalid(path, '', 'cannot set both resource and service backends')];
  }
  if (service === undefined) return [invalid(path, '', 'resource or service backend is required')];
  return [
    ...requiredText(
      service.name,
      `${path}.${names.service}`,
      relaxedServiceNames ? dns1123LabelProblems : dns1035LabelProblems,
    ),
    ...validateServicePort(service.port, path, names),
  ];
}

function validateServicePort(
  { name = '', number = 0 }: ServiceBackendPort,
  path: string,
  { portName, portNumber: portField }: Names,
): FieldError[] {
  if (name !== '' && number !== 0) return [invalid(path, '', 'cannot set both port name & port number')];
  if (name !== '') return invalidForEach(portNameProblems(name), name, `${path}.${portName}`);
  return number === 0
    ? [required(path, 'port name or number is required')]
    : portNumber(number, `${path}.${portField}`);
}

const HOSTS_SHOWN_MAX = 3;

const ingressTable = tableOf<Ingress>([
  NAME,
  { name: 'Class', cell: ({ spec }) => spec.ingressClassName ?? NONE },
  { name: 'Hosts', cell: hostsText },
  { name: 'Address', cell: ({ status }) => loadBalancerText(status?.loadBalancer ?? {}) },
  { name: 'Ports', cell: ({ spec }) => (spec.tls === undefined ? '80' : '80, 443') },
  AGE,
]);

/** Rules without a host are not shown, but count among those that are more than fit. */
function hostsText({ spec: { rules = [] } }: Ingress): string {
  const shown: string[] = [];
  for (const { host = '' } of rules) {
    if (shown.length === HOSTS_SHOWN_MAX) {
      return `${shown.join(',')} + ${String(rules.length - HOSTS_SHOWN_MAX)} more...`;
    }
    if (host !== '') shown.push(host);
  }
  return shown.length === 0 ? '*' : shown.join(',');
}

export const ingresses: Kind<Ingress> = {
  strategy: {
    tracksGeneration: true,
    compat: {
      ...(isInForce('networkingGroupInErrors') ? {} : { groupInErrors: GROUP.extensions }),
      keyInErrors: 'ingress',
    },
    ...ingressRules,
    ratchets: (faults, previous, { settings }) =>
      keepSpellings(faults, previous && (() => validateLoadBalancerStatus(previous, settings))),
  },
  table: ingressTable,
};
