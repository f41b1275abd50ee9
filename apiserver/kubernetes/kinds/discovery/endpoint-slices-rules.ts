import type {
  Endpoint,
  EndpointPort,
  EndpointSlice,
  ForZone,
} from '../../../../shared/api/types/discovery-v1';
import { LABEL } from '../../../../shared/names';
import type { FieldError } from '../../../../shared/errors/field-error';
import { duplicate, invalid, required, tooMany } from '../../../../shared/errors/field-error';
import {
  dns1123LabelProblems,
  dns1123SubdomainProblems,
  labelValueProblems,
} from '../../../../shared/meta/dns-names';
import { validateLabels } from '../../../../shared/meta/validate-labels';
import type { Strategy } from '../../../engine/registry/strategy';
import { familyOf, reachableAddress } from '../rules/addresses';
import { appProtocol } from '../core/service-ports';
import {
  choice,
  forEachItem,
  immutable,
  invalidForEach,
  optionalForm,
  repeatsIn,
  requiredChoice,
} from '../rules/primitives';

const ENDPOINTS_MAX = 1000;
const ADDRESSES_MAX = 100;
const PORTS_MAX = 20_000;
const ZONES_MAX = 8;
const TOPOLOGY_LABELS_MAX = 16;
const PORT_PROTOCOLS = ['SCTP', 'TCP', 'UDP'];
const ADDRESS_TYPES = ['FQDN', 'IPv4', 'IPv6'];

export const endpointSliceRules: Pick<Strategy<EndpointSlice>, 'validate' | 'validateUpdate'> = {
  validate: ({ addressType, endpoints, ports }) => [
    ...requiredChoice(addressType, 'addressType', ADDRESS_TYPES),
    ...validateEndpoints(endpoints ?? [], addressType),
    ...validatePorts(ports ?? []),
  ],
  validateUpdate: (next, previous) => immutable(next.addressType, previous.addressType, 'addressType'),
};

function validateEndpoints(endpoints: readonly Endpoint[], addressType: string): FieldError[] {
  if (endpoints.length > ENDPOINTS_MAX) return [tooMany('endpoints', endpoints.length, ENDPOINTS_MAX)];
  return forEachItem(endpoints, 'endpoints', (endpoint, path) => [
    ...validateAddresses(endpoint.addresses ?? [], `${path}.addresses`, addressType),
    ...formOf(endpoint.nodeName, `${path}.nodeName`, dns1123SubdomainProblems),
    ...validateTopology(endpoint.deprecatedTopology ?? {}, `${path}.deprecatedTopology`),
    ...formOf(endpoint.hostname, `${path}.hostname`, dns1123LabelProblems),
    ...validateZones(endpoint.hints?.forZones ?? [], `${path}.hints.forZones`),
  ]);
}

/** The zones whose clients shall take the endpoint. */
function validateZones(zones: readonly ForZone[], path: string): FieldError[] {
  if (zones.length > ZONES_MAX) return [tooMany(path, zones.length, ZONES_MAX)];
  const isRepeated = repeatsIn(zones.map(({ name }) => name));
  return forEachItem(zones, path, ({ name }, at, index) => [
    ...(isRepeated(index) ? [duplicate(`${at}.name`, name)] : []),
    ...invalidForEach(labelValueProblems(name), name, `${at}.name`),
  ]);
}

/** Unlike most names, one that is given must not be empty. */
function formOf(name: string | undefined, path: string, problems: (name: string) => string[]): FieldError[] {
  return name === undefined ? [] : invalidForEach(problems(name), name, path);
}

function validateAddresses(addresses: readonly string[], path: string, addressType: string): FieldError[] {
  if (addresses.length === 0) return [required(path, 'must contain at least 1 address')];
  return [
    ...(addresses.length > ADDRESSES_MAX ? [tooMany(path, addresses.length, ADDRESSES_MAX)] : []),
    ...forEachItem(addresses, path, (address, addressPath) => {
      if (addressType === 'FQDN') return fullyQualifiedName(address, addressPath);
      if (addressType !== 'IPv4' && addressType !== 'IPv6') return [];
      const reachable = reachableAddress(address, addressPath);
      if (familyOf(address) === addressType) return reachable;
      return [invalid(addressPath, address, `must be a valid ${addressType} address`), ...reachable];
    }),
  ];
}

/** A domain name of at least two labels; a dot at its end is allowed. */
function fullyQualifiedName(name: string, path: string): FieldError[] {
  if (name === '') return [required(path)];
  const bare = name.endsWith('.') ? name.slice(0, -1) : name;
  const problems = dns1123SubdomainProblems(bare);
  if (problems.length > 0) return [invalid(path, bare, problems.join(','))];
  const labels = bare.split('.');
  if (labels.length < 2)
    return [invalid(path, bare, 'should be a domain with at least two segments separated by dots')];
  return labels.flatMap((label) => {
    const wrong = dns1123LabelProblems(label);
    return wrong.length > 0 ? [invalid(path, label, wrong.join(','))] : [];
  });
}

function validateTopology(topology: Readonly<Record<string, string>>, path: string): FieldError[] {
  const count = Object.keys(topology).length;
  return [
    ...(count > TOPOLOGY_LABELS_MAX ? [tooMany(path, count, TOPOLOGY_LABELS_MAX)] : []),
    ...validateLabels(topology, path),
    ...(Object.hasOwn(topology, LABEL.topologyZone)
      ? [
          invalid(
            `${path}[${LABEL.topologyZone}]`,
            topology[LABEL.topologyZone],
            'cannot be set in the topology; use the zone field',
          ),
        ]
      : []),
  ];
}

function validatePorts(ports: readonly EndpointPort[]): FieldError[] {
  if (ports.length > PORTS_MAX) return [tooMany('ports', ports.length, PORTS_MAX)];
  const names = ports.map((port) => port.name ?? '');
  const isRepeated = repeatsIn(names);
  return forEachItem(ports, 'ports', (port, path, index) => [
    ...optionalForm(port.name, `${path}.name`, dns1123LabelProblems),
    ...(isRepeated(index) ? [duplicate(`${path}.name`, names[index])] : []),
    ...(port.protocol === undefined
      ? [required(`${path}.protocol`)]
      : choice(port.protocol, `${path}.protocol`, PORT_PROTOCOLS)),
    ...appProtocol(port.appProtocol, `${path}.appProtocol`),
  ]);
}
