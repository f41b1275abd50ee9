import { isInForce } from '../../../../shared/api/changes';
import type {
  IPBlock,
  NetworkPolicy,
  NetworkPolicyPeer,
  NetworkPolicyPort,
} from '../../../../shared/api/types/networking-v1';
import type { FieldError } from '../../../../shared/errors/field-error';
import { forbiddenField, invalid, required } from '../../../../shared/errors/field-error';
import { goStrings } from '../../../../shared/errors/go-values';
import { GROUP } from '../../../../shared/names';
import type { IntOrString } from '../../../../shared/object/values';
import type { KindSettings, Strategy } from '../../../engine/registry/strategy';
import { AGE, NAME } from '../columns/common';
import { selectorText } from '../columns/format';
import { tableOf } from '../columns/table';
import { isOn } from '../field-gates';
import type { Kind } from '../kind';
import { isStrictlyInside } from '../rules/addresses';
import { keepSpellings, legacyCidr } from '../rules/strict-addresses';
import { labelSelector } from '../rules/label-selectors';
import { choice, forEachItem, isCidr, portNumber, portNumberOrName } from '../rules/primitives';

const POLICY_TYPES = ['Ingress', 'Egress'];
const PROTOCOLS = ['TCP', 'UDP', 'SCTP'];
const SELECTORS = ['podSelector', 'namespaceSelector'] as const;

const networkPolicyRules: Pick<Strategy<NetworkPolicy>, 'validate'> = {
  validate: ({ spec: { podSelector, ingress = [], egress = [], policyTypes = [] } }, { settings }) => [
    ...labelSelector(podSelector, 'spec.podSelector'),
    ...forEachItem(ingress, 'spec.ingress', ({ ports = [], from = [] }, path) => [
      ...forEachItem(ports, `${path}.ports`, validatePort),
      ...forEachItem(from, `${path}.from`, (peer, at) => validatePeer(peer, at, settings)),
    ]),
    ...forEachItem(egress, 'spec.egress', ({ ports = [], to = [] }, path) => [
      ...forEachItem(ports, `${path}.ports`, validatePort),
      ...forEachItem(to, `${path}.to`, (peer, at) => validatePeer(peer, at, settings)),
    ]),
    ...validateTypes(policyTypes),
  ],
};

function validateTypes(types: readonly string[]): FieldError[] {
  const path = 'spec.policyTypes';
  if (types.length > POLICY_TYPES.length) {
    const shown = goStrings(types, 'networking.PolicyType');
    return [invalid(path, shown, 'may not specify more than two policyTypes')];
  }
  return forEachItem(types, path, (type, at) => choice(type, at, POLICY_TYPES));
}

function validatePort({ protocol, port, endPort }: NetworkPolicyPort, path: string): FieldError[] {
  return [
    ...(protocol === undefined ? [] : choice(protocol, `${path}.protocol`, PROTOCOLS)),
    ...(port === undefined ? [] : portNumberOrName(port, `${path}.port`)),
    ...(endPort === undefined ? [] : validateEndPort(endPort, port, `${path}.endPort`)),
  ];
}

function validateEndPort(endPort: number, port: IntOrString | undefined, path: string): FieldError[] {
  if (port === undefined)
    return [invalid(path, endPort, 'may not be specified when `port` is not specified')];
  if (typeof port !== 'number') {
    return [invalid(path, endPort, 'may not be specified when `port` is non-numeric')];
  }
  return [
    ...(endPort < port ? [invalid(path, port, 'must be greater than or equal to `port`')] : []),
    ...portNumber(endPort, path),
  ];
}

function validatePeer(peer: NetworkPolicyPeer, path: string, settings: KindSettings): FieldError[] {
  const { ipBlock: block } = peer;
  const selectors = SELECTORS.filter((field) => peer[field] !== undefined);
  if (block === undefined && selectors.length === 0) return [required(path, 'must specify a peer')];
  return [
    ...selectors.flatMap((field) => labelSelector(peer[field], `${path}.${field}`)),
    ...(block === undefined ? [] : validateBlock(block, `${path}.ipBlock`, settings)),
    ...(block !== undefined && selectors.length > 0
      ? [forbiddenField(path, 'may not specify both ipBlock and another peer')]
      : []),
  ];
}

function validateBlock(block: IPBlock, path: string, settings: KindSettings): FieldError[] {
  const { cidr, except: exceptions = [] } = block;
  if (cidr === '') return [required(`${path}.cidr`)];
  if (isInForce('addressErrors')) return validateNetworks(block, path, settings);
  if (!isCidr(cidr)) return [invalid(`${path}.cidr`, cidr, 'not a valid CIDR')];
  const firstBad = exceptions.findIndex((except) => !isCidr(except));
  // What follows the first that is no network is not looked at.
  const checked = firstBad < 0 ? exceptions : exceptions.slice(0, firstBad + 1);
  return forEachItem(checked, `${path}.except`, (except, at) => {
    if (!isCidr(except)) return [invalid(at, except, 'not a valid CIDR')];
    return isStrictlyInside(cidr, except) ? [] : [invalid(at, except, 'must be a strict subset of `cidr`')];
  });
}

/** Validates each network by itself, and each exception as a part of the network of the block. */
function validateNetworks(
  { cidr, except: exceptions = [] }: IPBlock,
  path: string,
  settings: KindSettings,
): FieldError[] {
  const errors = legacyCidr(cidr, `${path}.cidr`, settings);
  if (!isCidr(cidr)) return errors;
  return [
    ...errors,
    ...forEachItem(exceptions, `${path}.except`, (except, at) => {
      const wrong = legacyCidr(except, at, settings);
      return !isCidr(except) || isStrictlyInside(cidr, except)
        ? wrong
        : [...wrong, invalid(at, except, 'must be a strict subset of `cidr`')];
    }),
  ];
}

/** Ranges of ports belong to a feature that is off by default; a policy that has had some keeps them. */
const networkPolicyStrategy: Strategy<NetworkPolicy> = {
  tracksGeneration: true,
  compat: isInForce('networkingGroupInErrors') ? {} : { groupInErrors: GROUP.extensions },
  ...networkPolicyRules,
  ratchets: (faults, previous, info) =>
    keepSpellings(faults, previous && (() => networkPolicyRules.validate?.(previous, info) ?? [])),
  prepareForCreate: (object, { settings }) =>
    isOn(settings, 'NetworkPolicyEndPort') ? object : withoutRanges(object),
  prepareForUpdate: (next, previous, { settings }) =>
    isOn(settings, 'NetworkPolicyEndPort') || hasRanges(previous) ? next : withoutRanges(next),
};

interface Rule {
  readonly ports?: readonly NetworkPolicyPort[];
}

function hasRanges({ spec: { ingress = [], egress = [] } }: NetworkPolicy): boolean {
  return [...ingress, ...egress].some(({ ports = [] }) => ports.some(({ endPort }) => endPort !== undefined));
}

function withoutRanges(object: NetworkPolicy): NetworkPolicy {
  if (!hasRanges(object)) return object;
  const { ingress, egress, ...rest } = object.spec;
  return {
    ...object,
    spec: {
      ...rest,
      ...(ingress === undefined ? {} : { ingress: ingress.map(ofSinglePorts) }),
      ...(egress === undefined ? {} : { egress: egress.map(ofSinglePorts) }),
    },
  };
}

function ofSinglePorts<T extends Rule>(rule: T): T {
  const { ports } = rule;
  return ports === undefined ? rule : { ...rule, ports: ports.map(({ endPort: _end, ...port }) => port) };
}

const networkPolicyTable = tableOf<NetworkPolicy>([
  NAME,
  { name: 'Pod-Selector', cell: ({ spec }) => selectorText(spec.podSelector) },
  AGE,
]);

export const networkPolicies: Kind<NetworkPolicy> = {
  strategy: networkPolicyStrategy,
  table: networkPolicyTable,
};
