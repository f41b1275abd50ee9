import type { NetworkPolicy, NetworkPolicyPort } from '../../../../shared/api/types/networking-v1';
import { GROUP } from '../../../../shared/names';
import type { Strategy } from '../../../engine/registry/strategy';
import { isOn } from '../field-gates';
import { networkPolicyRules } from './network-policies-rules';

/** Ranges of ports belong to a feature that is off by default; a policy that has had some keeps them. */
export const networkPolicies: Strategy<NetworkPolicy> = {
  tracksGeneration: true,
  emptyIsChange: { spec: ['policyTypes'] },
  groupInErrors: GROUP.extensions,
  ...networkPolicyRules,
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
