import { isInForce } from '../../../../../shared/api/changes';
import type {
  LoadBalancerStatus,
  Service,
  ServicePort,
  ServiceSpec,
} from '../../../../../shared/api/types/core-v1';
import type { FieldError } from '../../../../../shared/errors/field-error';
import { duplicate, forbiddenField, invalid, required } from '../../../../../shared/errors/field-error';
import { goQuote } from '../../../../../shared/errors/go-quote';
import type { GoValue } from '../../../../../shared/errors/go-values';
import { goStruct, goStructs } from '../../../../../shared/errors/go-values';
import {
  dns1035LabelProblems,
  dns1123LabelProblems,
  dns1123SubdomainProblems,
} from '../../../../../shared/meta/dns-names';
import { validateLabels } from '../../../../../shared/meta/validate-labels';
import { ANNOTATION } from '../../../../../shared/names';
import type { ObjectMeta } from '../../../../../shared/object/object';
import type { IntOrString } from '../../../../../shared/object/values';
import type { KindSettings, Strategy, WriteInfo } from '../../../../engine/registry/strategy';
import { statusSubresource } from '../../../../engine/registry/strategy';
import { isOn } from '../../field-gates';
import { familyOf, reachableAddress } from '../../rules/addresses';
import {
  forEachItem,
  invalidForEach,
  isCidr,
  noDuplicates,
  optionalForm,
  portNumberOrName,
  repeatsIn,
  requiredChoice,
  untilEnough,
} from '../../rules/primitives';
import { legacyCidr, legacyIp } from '../../rules/strict-addresses';
import { clusterAddressChanges, clusterAddresses, isHeadless } from './service-addresses';
import { balancerClassStays, balancerFields, insideTraffic, topologyKeys } from './service-features';
import { validateServicePort } from './service-ports';
import { trafficDistribution, validateOutsideTraffic } from './service-traffic';

const TYPES = ['ClusterIP', 'ExternalName', 'LoadBalancer', 'NodePort'];
const AFFINITIES = ['ClientIP', 'None'];
const AFFINITY_SECONDS_MAX = 86_400;

/** The node agent's own port, which some clouds would open to the world. */
const NODE_AGENT_PORT = 10_250;

/** What is wrong with a Service apart from addresses and ports that are taken. */
export const serviceRules: Pick<
  Strategy<Service>,
  'validate' | 'validateNew' | 'validateUpdate' | 'subresources'
> = {
  validate: (service, { settings }) => validateService(service, settings),
  validateNew: (service, { settings }) => [
    ...strictName(service, settings),
    ...mixedProtocols(service, settings),
  ],
  validateUpdate: (next, previous, { settings }) =>
    wrongAddresses(next, settings).length > 0
      ? []
      : [
          ...clusterAddressChanges(next, previous),
          ...balancerClassStays(next, previous),
          ...mixedProtocols(next, settings, previous),
        ],
  subresources: {
    status: {
      ...statusSubresource,
      validateUpdate: validateServiceStatus,
    },
  },
};

/** Addresses in the status are those of a load balancer. */
function validateServiceStatus(next: Service, _previous: Service, { settings }: WriteInfo): FieldError[] {
  const { spec, status } = next;
  const isMisplaced = spec.type !== 'LoadBalancer' && (status?.loadBalancer.ingress ?? []).length > 0;
  return isMisplaced && isInForce('balancerStatusOfBalancers')
    ? [forbiddenField('status.loadBalancer.ingress', "may only be used when `spec.type` is 'LoadBalancer'")]
    : validateLoadBalancerStatus(next, settings);
}

/** Addresses are reserved before anything else is validated, in newer releases. */
function wrongAddresses({ spec }: Pick<Service, 'spec'>, settings: KindSettings): FieldError[] {
  return spec.type === 'ExternalName' || !isInForce('genericServices')
    ? []
    : clusterAddresses(spec, settings);
}

function validateService({ metadata, spec }: Service, settings: KindSettings): FieldError[] {
  const { ports = [], type } = spec;
  const early = wrongAddresses({ spec }, settings);
  if (early.length > 0) return early;
  return untilEnough([
    () => validateByType(spec),
    () => validatePorts(spec),
    () => validateLabels(spec.selector, 'spec.selector'),
    () => validateAffinity(spec),
    () => (type === 'ExternalName' ? [] : clusterAddresses(spec, settings)),
    () =>
      forEachItem(spec.externalIPs ?? [], 'spec.externalIPs', (address, path) => {
        const wrong = legacyIp(address, path, settings);
        return wrong.length > 0 ? wrong : reachableAddress(address, path);
      }),
    () => requiredChoice(type, 'spec.type', TYPES),
    () => (type === 'ClusterIP' ? noNodePorts(ports) : []),
    () => duplicateNodePorts(ports),
    () => duplicatePorts(ports),
    () => topologyKeys(spec),
    () => validateSourceRanges(metadata, spec, settings),
    () => balancerFields(spec),
    () => validateOutsideTraffic(spec),
    () => trafficDistribution(spec, settings),
    () => insideTraffic(spec, settings),
  ]);
}

/** A name that is a label may begin with a digit only with the gate. */
function strictName({ metadata: { name = '' } }: Service, settings: KindSettings): FieldError[] {
  if (isOn(settings, 'RelaxedServiceNameValidation') || dns1123LabelProblems(name).length > 0) return [];
  return invalidForEach(dns1035LabelProblems(name), name, 'metadata.name');
}

function validateByType(spec: ServiceSpec): FieldError[] {
  const { ports = [], type = '' } = spec;
  const needsPorts = ports.length === 0 && !isHeadless(spec) && type !== 'ExternalName';
  const missing = needsPorts ? [required('spec.ports')] : [];
  switch (type) {
    case 'LoadBalancer':
      return [
        ...missing,
        ...forEachItem(ports, 'spec.ports', ({ port }, path) =>
          port === NODE_AGENT_PORT && !isInForce('nodeAgentPorts')
            ? [invalid(path, port, 'may not expose port 10250 externally since it is used by kubelet')]
            : [],
        ),
        ...notHeadless(spec),
      ];
    case 'NodePort':
      return [...missing, ...notHeadless(spec)];
    case 'ExternalName':
      return validateExternalName(spec);
    default:
      return missing;
  }
}

/** A balancer carries one protocol, unless its Service has had several before: their feature is off by default. */
function mixedProtocols(next: Service, settings: KindSettings, previous?: Service): FieldError[] {
  const { type, ports = [] } = next.spec;
  if (type !== 'LoadBalancer' || isOn(settings, 'MixedProtocolLBService')) return [];
  if (!isMixed(next) || (previous !== undefined && isMixed(previous))) return [];
  return [
    invalid(
      'spec.ports',
      goStructs(PORT, ports.map(portInGo)),
      "may not contain more than 1 protocol when type is 'LoadBalancer'",
    ),
  ];
}

function isMixed({ spec: { ports = [] } }: Service): boolean {
  return new Set(ports.map(({ protocol = '' }) => protocol)).size > 1;
}

function notHeadless(spec: ServiceSpec): FieldError[] {
  if (!isHeadless(spec)) return [];
  return [invalid('spec.clusterIPs[0]', 'None', `may not be set to 'None' for ${spec.type ?? ''} services`)];
}

function noNodePorts(ports: readonly ServicePort[]): FieldError[] {
  return forEachItem(ports, 'spec.ports', ({ nodePort = 0 }, path) =>
    nodePort === 0 ? [] : [forbiddenField(`${path}.nodePort`, "may not be used when `type` is 'ClusterIP'")],
  );
}

const NOT_EXTERNAL = ['clusterIPs', 'ipFamilies', 'ipFamilyPolicy'] as const;

function validateExternalName(spec: ServiceSpec): FieldError[] {
  const name = (spec.externalName ?? '').replace(/\.$/, '');
  return [
    ...NOT_EXTERNAL.filter((field) => isGiven(spec[field])).map((field) =>
      forbiddenField(`spec.${field}`, 'may not be set for ExternalName services'),
    ),
    ...(name === ''
      ? [required('spec.externalName')]
      : invalidForEach(dns1123SubdomainProblems(name), name, 'spec.externalName')),
  ];
}

/** A list with something in it, or a text, be it empty. */
function isGiven(value: string | readonly string[] | undefined): boolean {
  return typeof value === 'string' || (value ?? []).length > 0;
}

function validatePorts({ ports = [] }: ServiceSpec): FieldError[] {
  return [
    ...forEachItem(ports, 'spec.ports', (port, path) =>
      validateServicePort(port, path, {
        needsName: ports.length > 1,
        target: portNumberOrName(port.targetPort, `${path}.targetPort`),
      }),
    ),
    ...noDuplicates(
      ports.map(({ name = '' }) => name),
      (index) => `spec.ports[${String(index)}].name`,
    ),
  ];
}

function duplicateNodePorts(ports: readonly ServicePort[]): FieldError[] {
  const isRepeated = repeatsIn(
    ports.map(({ protocol = '', nodePort = 0 }) => `${protocol}/${String(nodePort)}`),
  );
  return forEachItem(ports, 'spec.ports', ({ nodePort = 0 }, path, index) =>
    nodePort !== 0 && isRepeated(index) ? [duplicate(`${path}.nodePort`, nodePort)] : [],
  );
}

function duplicatePorts(ports: readonly ServicePort[]): FieldError[] {
  const seen = new Set<string>();
  return forEachItem(ports, 'spec.ports', ({ protocol, port }, path) => {
    const key = `${protocol ?? ''}/${String(port)}`;
    // As upstream shows what it compares: the other fields are empty.
    if (seen.has(key)) return [duplicate(path, portInGo({ protocol: protocol ?? '', port, targetPort: 0 }))];
    seen.add(key);
    return [];
  });
}

const PORT = 'core.ServicePort';

function portInGo({
  name = '',
  protocol = '',
  appProtocol,
  port,
  targetPort,
  nodePort = 0,
}: ServicePort): GoValue {
  return goStruct(PORT, {
    Name: goQuote(name),
    Protocol: goQuote(protocol),
    // Upstream shows where the text is in its memory.
    AppProtocol: appProtocol === undefined ? '(*string)(nil)' : '(*string)(0x0)',
    Port: String(port),
    TargetPort: portOrNameInGo(targetPort),
    NodePort: String(nodePort),
  });
}

function portOrNameInGo(port: IntOrString): string {
  return typeof port === 'string'
    ? `intstr.IntOrString{Type:1, IntVal:0, StrVal:${goQuote(port)}}`
    : `intstr.IntOrString{Type:0, IntVal:${String(port)}, StrVal:""}`;
}

function validateAffinity({ sessionAffinity, sessionAffinityConfig: config }: ServiceSpec): FieldError[] {
  const path = 'spec.sessionAffinityConfig';
  const wrong = requiredChoice(sessionAffinity, 'spec.sessionAffinity', AFFINITIES);
  if (wrong.length > 0) return wrong;
  if (sessionAffinity === 'None') {
    return config === undefined
      ? []
      : [forbiddenField(path, 'must not be set when session affinity is None')];
  }
  if (config === undefined) return [required(path, 'when session affinity type is ClientIP')];
  const { clientIP: client } = config;
  if (client === undefined) return [required(`${path}.clientIP`, 'when session affinity type is ClientIP')];
  const seconds = `${path}.clientIP.timeoutSeconds`;
  const { timeoutSeconds: timeout } = client;
  if (timeout === undefined) return [required(seconds, 'when session affinity type is ClientIP')];
  if (timeout > 0 && timeout <= AFFINITY_SECONDS_MAX) return [];
  // The greatest one is good too, whatever the text says.
  return [invalid(seconds, timeout, `must be greater than 0 and less than ${String(AFFINITY_SECONDS_MAX)}`)];
}

function validateSourceRanges(metadata: ObjectMeta, spec: ServiceSpec, settings: KindSettings): FieldError[] {
  const { loadBalancerSourceRanges: inSpec = [], type } = spec;
  const annotation = metadata.annotations?.[ANNOTATION.loadBalancerSourceRanges];
  if (inSpec.length === 0 && annotation === undefined) return [];
  // The capital letter is upstream's.
  const path =
    inSpec.length > 0
      ? 'spec.LoadBalancerSourceRanges'
      : `metadata.annotations[${ANNOTATION.loadBalancerSourceRanges}]`;
  const ranges =
    inSpec.length > 0 ? inSpec : (annotation ?? '').split(',').filter((each) => each.trim() !== '');
  const shown = inSpec.length > 0 ? `[${inSpec.join(' ')}]` : annotation;
  return [
    ...(type === 'LoadBalancer'
      ? []
      : [forbiddenField(path, "may only be used when `type` is 'LoadBalancer'")]),
    ...(isInForce('addressErrors')
      ? forEachItem(ranges, path, (range, at) =>
          legacyCidr(range.trim(), inSpec.length > 0 ? at : path, settings),
        )
      : ranges.every((range) => isCidr(range.trim()))
        ? []
        : [invalid(path, shown, 'must be a list of IP ranges. For example, 10.240.0.0/24,10.250.0.0/24 ')]),
  ];
}

/** The status of a Service or Ingress: each entry has an address, a host name, or both. */
export function validateLoadBalancerStatus(
  { status }: { readonly status?: { readonly loadBalancer: LoadBalancerStatus } },
  settings: KindSettings,
): FieldError[] {
  const { ingress = [] } = status?.loadBalancer ?? {};
  return forEachItem(ingress, 'status.loadBalancer.ingress', ({ ip = '', hostname: host = '' }, path) => [
    ...(ip === '' ? [] : balancerIp(ip, `${path}.ip`, settings)),
    ...optionalForm(host, `${path}.hostname`, dns1123SubdomainProblems),
    ...(familyOf(host) === undefined
      ? []
      : [invalid(`${path}.hostname`, host, 'must be a DNS name, not an IP address')]),
  ]);
}

function balancerIp(ip: string, path: string, settings: KindSettings): FieldError[] {
  if (isInForce('addressErrors')) return legacyIp(ip, path, settings);
  return familyOf(ip) === undefined ? [invalid(path, ip, 'must be a valid IP address')] : [];
}
