import { isInForce } from '../../../../shared/api/changes';
import type {
  Endpoint,
  EndpointPort,
  EndpointSlice,
  ForNode,
  ForZone,
} from '../../../../shared/api/types/discovery-v1';
import type { FieldError } from '../../../../shared/errors/field-error';
import { duplicate, invalid, required, tooMany } from '../../../../shared/errors/field-error';
import {
  dns1123LabelProblems,
  dns1123SubdomainProblems,
  labelValueProblems,
} from '../../../../shared/meta/dns-names';
import { withNextGeneration } from '../../../../shared/meta/generation';
import { validateLabels } from '../../../../shared/meta/validate-labels';
import { LABEL } from '../../../../shared/names';
import { deepEqual } from '../../../../shared/object/clone';
import type { KindSettings, Strategy, WriteInfo } from '../../../engine/registry/strategy';
import { AGE, NAME } from '../columns/common';
import { sliceItems } from '../columns/format';
import { tableOf } from '../columns/table';
import { appProtocol } from '../core/services/service-ports';
import { isOn } from '../field-gates';
import type { Kind } from '../kind';
import { familyOf, reachableAddress } from '../rules/addresses';
import { canonicalIp, legacyIp } from '../rules/strict-addresses';
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

const endpointSliceRules: Pick<Strategy<EndpointSlice>, 'ratchets' | 'validate' | 'validateUpdate'> = {
  ratchets: (faults, previous, { sent }) => {
    const keepsEndpoints =
      isInForce('canonicalEndpoints') &&
      previous !== undefined &&
      deepEqual(previous.endpoints, (sent as EndpointSlice | undefined)?.endpoints);
    return keepsEndpoints ? faults.filter(({ field }) => !field.startsWith('endpoints[')) : faults;
  },
  validate: ({ addressType, endpoints, ports }, { settings }) => [
    ...requiredChoice(addressType, 'addressType', ADDRESS_TYPES),
    ...validateEndpoints(endpoints ?? [], addressType, settings),
    ...validatePorts(ports ?? []),
  ],
  validateUpdate: (next, previous) => immutable(next.addressType, previous.addressType, 'addressType'),
};

function validateEndpoints(
  endpoints: readonly Endpoint[],
  addressType: string,
  settings: KindSettings,
): FieldError[] {
  if (endpoints.length > ENDPOINTS_MAX) return [tooMany('endpoints', endpoints.length, ENDPOINTS_MAX)];
  return forEachItem(endpoints, 'endpoints', (endpoint, path) => [
    ...validateAddresses(endpoint.addresses ?? [], `${path}.addresses`, { addressType, settings }),
    ...formOf(endpoint.nodeName, `${path}.nodeName`, dns1123SubdomainProblems),
    ...validateTopology(endpoint.deprecatedTopology ?? {}, `${path}.deprecatedTopology`),
    ...formOf(endpoint.hostname, `${path}.hostname`, dns1123LabelProblems),
    ...validateZones(endpoint.hints?.forZones ?? [], `${path}.hints.forZones`),
    ...validateHintedNodes(endpoint.hints?.forNodes ?? [], `${path}.hints.forNodes`),
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

function validateAddresses(
  addresses: readonly string[],
  path: string,
  { addressType, settings }: { readonly addressType: string; readonly settings: KindSettings },
): FieldError[] {
  if (addresses.length === 0) return [required(path, 'must contain at least 1 address')];
  return [
    ...(addresses.length > ADDRESSES_MAX ? [tooMany(path, addresses.length, ADDRESSES_MAX)] : []),
    ...forEachItem(addresses, path, (address, addressPath) => {
      if (addressType === 'FQDN') return fullyQualifiedName(address, addressPath);
      if (addressType !== 'IPv4' && addressType !== 'IPv6') return [];
      if (isInForce('canonicalEndpoints'))
        return ofFamily(address, addressPath, { family: addressType, settings });
      const reachable = reachableAddress(address, addressPath);
      if (familyOf(address) === addressType) return reachable;
      return [invalid(addressPath, address, `must be a valid ${addressType} address`), ...reachable];
    }),
  ];
}

/** An address in another family is an error of the list. */
function ofFamily(
  address: string,
  path: string,
  { family, settings }: { readonly family: 'IPv4' | 'IPv6'; readonly settings: KindSettings },
): FieldError[] {
  const errors = family === 'IPv4' ? legacyIp(address, path, settings) : canonicalIp(address, path);
  if (errors.length > 0) return errors;
  const list = path.slice(0, path.lastIndexOf('['));
  return [
    ...(familyOf(address) === family ? [] : [invalid(list, address, `must be an ${family} address`)]),
    ...reachableAddress(address, path),
  ];
}

/** Validates the nodes whose clients should use the endpoint. */
function validateHintedNodes(nodes: readonly ForNode[], path: string): FieldError[] {
  if (nodes.length > ZONES_MAX) return [tooMany(path, nodes.length, ZONES_MAX)];
  const isRepeated = repeatsIn(nodes.map(({ name }) => name));
  return forEachItem(nodes, path, ({ name }, at, index) => [
    ...(isRepeated(index) ? [duplicate(`${at}.name`, name)] : []),
    ...invalidForEach(dns1123SubdomainProblems(name), name, `${at}.name`),
  ]);
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

/**
 * A slice of endpoints. Hints, and the conditions of terminating endpoints, belong to features that are off by default: they are
 * dropped unless the slice has had some. The topology of v1beta1 can be read in v1 and not be written.
 */
const endpointSliceStrategy: Strategy<EndpointSlice> = {
  tracksGeneration: true,
  ...endpointSliceRules,
  prepareForCreate: (object, info) =>
    withEndpoints(object, (endpoints) => {
      const settled = keepsHints(info) ? endpoints : endpoints.map(withoutHints);
      return withoutTopology(keepsStates(info) ? settled : settled.map(kept), [], info);
    }),
  prepareForUpdate(next, previous, info) {
    const before = previous.endpoints ?? [];
    const hadHints = keepsHints(info) || before.some(({ hints }) => hints !== undefined);
    const hadStates =
      keepsStates(info) ||
      before.some(({ conditions }) => STATES.some((state) => conditions[state] !== undefined));
    return withEndpoints(withGeneration(next, previous), (endpoints) => {
      const allowed = hadHints ? endpoints : endpoints.map(withoutHints);
      const settled = hadStates ? allowed : allowed.map(kept);
      return deepEqual(settled, before) ? settled : withoutTopology(settled, before, info);
    });
  },
};

/** Labels count as desired state here, and so does what is dropped. */
function withGeneration(next: EndpointSlice, previous: EndpointSlice): EndpointSlice {
  const { labels } = next.metadata;
  const isSame =
    deepEqual(labels, previous.metadata.labels) &&
    deepEqual({ ...next, metadata: {} }, { ...previous, metadata: {} });
  return isSame ? next : withNextGeneration(next, previous);
}

function keepsHints({ settings }: WriteInfo): boolean {
  return isOn(settings, 'TopologyAwareHints');
}

function keepsStates({ settings }: WriteInfo): boolean {
  return isOn(settings, 'EndpointSliceTerminatingCondition');
}

type Endpoints = readonly Endpoint[];

function withEndpoints(slice: EndpointSlice, change: (endpoints: Endpoints) => Endpoints): EndpointSlice {
  return slice.endpoints === null ? slice : { ...slice, endpoints: change(slice.endpoints) };
}

function withoutHints({ hints: _hints, ...endpoint }: Endpoint): Endpoint {
  return endpoint;
}

const STATES = ['serving', 'terminating'] as const;

function kept(endpoint: Endpoint): Endpoint {
  const { serving: _serving, terminating: _terminating, ...conditions } = endpoint.conditions;
  return { ...endpoint, conditions };
}

/** Where the map named the node before, and the endpoint does not name it otherwise, the name moves to its own field. */
function withoutTopology(endpoints: Endpoints, before: Endpoints, { via }: WriteInfo): Endpoints {
  if (via.version === 'v1beta1') return endpoints;
  const known = new Set(before.map(hostOf));
  return endpoints.map((endpoint) => {
    const { deprecatedTopology: _topology, ...rest } = endpoint;
    const host = hostOf(endpoint);
    const isNode = host !== '' && known.has(host) && dns1123SubdomainProblems(host).length === 0;
    return isNode && rest.nodeName === undefined ? { ...rest, nodeName: host } : rest;
  });
}

function hostOf({ deprecatedTopology }: Endpoint): string {
  return deprecatedTopology?.[LABEL.hostname] ?? '';
}

const endpointSliceTable = tableOf<EndpointSlice>([
  NAME,
  { name: 'AddressType', cell: ({ addressType }) => addressType },
  {
    name: 'Ports',
    cell: ({ ports }) => sliceItems((ports ?? []).map(({ name = '*', port = name }) => String(port))),
  },
  {
    name: 'Endpoints',
    cell: ({ endpoints }) => sliceItems((endpoints ?? []).flatMap(({ addresses }) => addresses ?? [])),
  },
  AGE,
]);

export const endpointSlices: Kind<EndpointSlice> = {
  strategy: endpointSliceStrategy,
  table: endpointSliceTable,
};
