import type { FieldError } from '../../../shared/errors/field-error';
import { forbiddenField, invalid, required } from '../../../shared/errors/field-error';
import type { Strategy } from '../../registry/strategy';
import type { Json } from '../../../shared/object/accessors';
import {
  optionalRecord,
  optionalText,
  record,
  records,
  strings,
  text,
} from '../../../shared/object/accessors';
import { isStrictlyInside } from '../rules/addresses';
import { choice, forEachItem, isCidr, portNumberOrName } from '../rules/primitives';
import { labelSelector } from '../rules/label-selectors';

const POLICY_TYPES = ['Ingress', 'Egress'];
const PROTOCOLS = ['TCP', 'UDP', 'SCTP'];

export const networkPolicyRules: Pick<Strategy, 'validate'> = {
  validate: (object) => {
    const spec = record(object['spec']);
    return [
      ...labelSelector(spec['podSelector'], 'spec.podSelector'),
      ...validateDirection(spec, 'ingress', 'from'),
      ...validateDirection(spec, 'egress', 'to'),
      ...validateTypes(strings(spec['policyTypes'])),
    ];
  },
};

function validateTypes(types: readonly string[]): FieldError[] {
  const path = 'spec.policyTypes';
  if (types.length > POLICY_TYPES.length) {
    return [invalid(path, types, 'may not specify more than two policyTypes')];
  }
  return forEachItem(types, path, (type, at) => choice(type, at, POLICY_TYPES));
}

function validateDirection(spec: Json, direction: 'ingress' | 'egress', peers: 'from' | 'to'): FieldError[] {
  return forEachItem(records(spec[direction]), `spec.${direction}`, (rule, path) => [
    ...forEachItem(records(rule['ports']), `${path}.ports`, validatePort),
    ...forEachItem(records(rule[peers]), `${path}.${peers}`, validatePeer),
  ]);
}

function validatePort(port: Json, path: string): FieldError[] {
  const protocol = optionalText(port['protocol']);
  return [
    ...(protocol === undefined ? [] : choice(protocol, `${path}.protocol`, PROTOCOLS)),
    ...(port['port'] === undefined ? [] : portNumberOrName(port['port'], `${path}.port`)),
  ];
}

function validatePeer(peer: Json, path: string): FieldError[] {
  const block = optionalRecord(peer['ipBlock']);
  const selectors = ['podSelector', 'namespaceSelector'].filter(
    (field) => optionalRecord(peer[field]) !== undefined,
  );
  if (block === undefined && selectors.length === 0) return [required(path, 'must specify a peer')];
  return [
    ...selectors.flatMap((field) => labelSelector(peer[field], `${path}.${field}`)),
    ...(block === undefined ? [] : validateBlock(block, `${path}.ipBlock`)),
    ...(block !== undefined && selectors.length > 0
      ? [forbiddenField(path, 'may not specify both ipBlock and another peer')]
      : []),
  ];
}

function validateBlock(block: Json, path: string): FieldError[] {
  const cidr = text(block['cidr']);
  if (cidr === '') return [required(`${path}.cidr`)];
  if (!isCidr(cidr)) return [invalid(`${path}.cidr`, cidr, 'not a valid CIDR')];
  return forEachItem(strings(block['except']), `${path}.except`, (except, at) => {
    if (!isCidr(except)) return [invalid(at, except, 'not a valid CIDR')];
    return isStrictlyInside(cidr, except) ? [] : [invalid(at, except, 'must be a strict subset of `cidr`')];
  });
}
