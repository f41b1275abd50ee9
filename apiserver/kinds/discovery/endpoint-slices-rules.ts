import type { Endpoint, EndpointPort, EndpointSlice } from '../../../shared/api/types/discovery-v1';
import { LABEL } from '../../../shared/names';
import type { FieldError } from '../../../shared/errors/field-error';
import { invalid, required, tooMany } from '../../../shared/errors/field-error';
import { dns1123LabelProblems, dns1123SubdomainProblems } from '../../../shared/meta/dns-names';
import { validateLabels } from '../../../shared/meta/validate-labels';
import type { Strategy } from '../../registry/strategy';
import { familyOf, reachableAddress } from '../rules/addresses';
import { appProtocol, PROTOCOLS } from '../core/service-ports';
import {
  choice,
  forEachItem,
  immutable,
  invalidForEach,
  noDuplicates,
  optionalForm,
  requiredChoice,
} from '../rules/primitives';

const ENDPOINTS_MAX = 1000;
const ADDRESSES_MAX = 100;
const PORTS_MAX = 100;
const TOPOLOGY_LABELS_MAX = 16;
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
    ...validateTopology(endpoint.deprecatedTopology ?? {}, `${path}.deprecatedTopology`),
    ...formOf(endpoint.nodeName, `${path}.nodeName`, dns1123SubdomainProblems),
    ...formOf(endpoint.hostname, `${path}.hostname`, dns1123LabelProblems),
  ]);
}

/** Unlike most names, one that is given must not be empty. */
function formOf(name: string | undefined, path: string, problems: (name: string) => string[]): FieldError[] {
  return name === undefined ? [] : invalidForEach(problems(name), name, path);
}

function validateAddresses(addresses: readonly string[], path: string, addressType: string): FieldError[] {
  if (addresses.length === 0) return [required(path, 'must contain at least 1 address')];
  if (addresses.length > ADDRESSES_MAX) return [tooMany(path, addresses.length, ADDRESSES_MAX)];
  return forEachItem(addresses, path, (address, addressPath) => {
    if (addressType === 'FQDN') return fullyQualifiedName(address, addressPath);
    if (addressType !== 'IPv4' && addressType !== 'IPv6') return [];
    if (familyOf(address) === addressType) return reachableAddress(address, addressPath);
    return [invalid(addressPath, address, `must be a valid ${addressType} address`)];
  });
}

/** A domain name of at least two labels; a dot at its end is allowed. */
function fullyQualifiedName(name: string, path: string): FieldError[] {
  if (name === '') return [required(path)];
  const bare = name.endsWith('.') ? name.slice(0, -1) : name;
  const problems = dns1123SubdomainProblems(bare);
  if (problems.length > 0) return invalidForEach(problems, name, path);
  return bare.includes('.')
    ? []
    : [invalid(path, name, 'should be a domain with at least two segments separated by dots')];
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
  // Two ports without a name are duplicates too, which a marker makes visible.
  const names = ports.map((port) => `name:${port.name ?? ''}`);
  return [
    ...noDuplicates(names, (index) => `ports[${String(index)}].name`),
    ...forEachItem(ports, 'ports', (port, path) => [
      ...optionalForm(port.name, `${path}.name`, dns1123LabelProblems),
      ...(port.protocol === undefined
        ? [required(`${path}.protocol`)]
        : choice(port.protocol, `${path}.protocol`, PROTOCOLS)),
      ...appProtocol(port.appProtocol, `${path}.appProtocol`),
    ]),
  ];
}
