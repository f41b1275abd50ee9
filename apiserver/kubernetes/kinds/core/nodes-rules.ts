import type { Node, NodeAddress, Taint } from '../../../../shared/api/types/core-v1';
import type { FieldError } from '../../../../shared/errors/field-error';
import {
  duplicate,
  forbiddenField,
  invalid,
  notSupported,
  required,
} from '../../../../shared/errors/field-error';
import { goQuote } from '../../../../shared/errors/go-quote';
import type { GoValue } from '../../../../shared/errors/go-values';
import { goDate, goStruct } from '../../../../shared/errors/go-values';
import { labelValueProblems, qualifiedNameProblems } from '../../../../shared/meta/dns-names';
import type { Strategy } from '../../../engine/registry/strategy';
import { statusSubresource } from '../../../engine/registry/strategy';
import { dualStackErrors } from '../rules/addresses';
import { isZero } from '../../../../shared/object/accessors';
import { validateNodeAnnotations } from './node-annotations';
import { validateConfigSource, validateConfigStatus } from './node-config';
import { forEachItem, invalidForEach, isCidr, repeatsIn } from '../rules/primitives';
import { resourceAmount } from '../pod-template/resource-requirements';
import { TAINT_EFFECTS } from '../pod-template/tolerations';

export const nodeRules: Pick<Strategy<Node>, 'validate' | 'validateUpdate' | 'subresources'> = {
  validate: validateNode,
  validateUpdate: validateNodeChange,
  subresources: { status: { ...statusSubresource, validateUpdate: validateNodeChange } },
};

function validateNode(node: Node): FieldError[] {
  return [
    ...validateNodeAnnotations(node.metadata.annotations ?? {}, ANNOTATIONS, taintList),
    ...validateTaints(node),
    ...validateAmounts(node),
    ...validatePodNetworks(node.spec.podCIDRs ?? []),
  ];
}

const ANNOTATIONS = 'metadata.annotations';

/** Upstream takes the path of metadata here. */
function validateTaints({ spec: { taints = [] } }: Node): FieldError[] {
  return taintList(taints, 'metadata.taints');
}

function taintList(taints: readonly Taint[], listPath: string): FieldError[] {
  const isRepeated = repeatsIn(taints.map(({ key, effect }) => `${key}:${effect}`));
  return forEachItem(taints, listPath, (taint, path, index) => [
    ...validateTaint(taint, path),
    ...(isRepeated(index)
      ? [duplicate(path, taintInGo(taint), 'taints must be unique by key and effect pair')]
      : []),
  ]);
}

function taintInGo({ key, value = '', effect, timeAdded }: Taint): GoValue {
  return goStruct('core.Taint', {
    Key: goQuote(key),
    Value: goQuote(value),
    Effect: goQuote(effect),
    TimeAdded: goDate(timeAdded),
  });
}

function inQuotes({ type, address }: NodeAddress): Readonly<Record<string, string>> {
  return { Type: goQuote(type), Address: goQuote(address) };
}

function validateTaint({ key, value = '', effect }: Taint, path: string): FieldError[] {
  const problems = labelValueProblems(value);
  return [
    ...invalidForEach(qualifiedNameProblems(key), key, `${path}.key`),
    ...(problems.length === 0 ? [] : [invalid(`${path}.value`, value, problems.join(';'))]),
    ...(effect === '' ? [required(`${path}.effect`)] : []),
    ...(effect === '' || TAINT_EFFECTS.includes(effect)
      ? []
      : [notSupported(`${path}.effect`, effect, TAINT_EFFECTS)]),
  ];
}

const AMOUNTS = ['capacity', 'allocatable'] as const;

function validateAmounts({ status }: Node): FieldError[] {
  return AMOUNTS.flatMap((list) =>
    forEachItem(Object.entries(status?.[list] ?? {}), list, ([name, value]) =>
      resourceAmount(name, value, `status.${list}.${name}`),
    ),
  );
}

function validatePodNetworks(networks: readonly string[]): FieldError[] {
  const path = 'spec.podCIDRs';
  const wrong = forEachItem(networks, path, (network, itemPath) =>
    // Upstream shows all of them.
    isCidr(network) ? [] : [invalid(itemPath, networks, 'must be valid CIDR')],
  );
  if (networks.length < 2) return wrong;
  const isRepeated = repeatsIn(networks);
  return [
    ...wrong,
    ...dualStackErrors(networks, path, { what: 'CIDR', shown: networks }),
    ...forEachItem(networks, path, (network, at, index) =>
      isRepeated(index) ? [duplicate(at, network)] : [],
    ),
  ];
}

/** Networks and the provider's id may be set once; of the rest only taints, schedulability and the config source may change. */
function validateNodeChange(next: Node, previous: Node): FieldError[] {
  const { spec: after } = next;
  const { spec: before } = previous;
  const { addresses = [], config } = next.status ?? {};
  const isRepeated = repeatsIn(addresses.map(({ type, address }) => `${type}/${address}`));
  return [
    ...validateNodeAnnotations(next.metadata.annotations ?? {}, ANNOTATIONS, taintList),
    ...validateAmounts(next),
    ...forEachItem(addresses, 'status.addresses', (address, path, index) =>
      isRepeated(index) ? [duplicate(path, goStruct('core.NodeAddress', inQuotes(address)))] : [],
    ),
    ...fixedNetworks(after.podCIDRs ?? [], before.podCIDRs ?? []),
    ...(isZero(before.providerID) || after.providerID === before.providerID
      ? []
      : [
          forbiddenField('spec.providerID', 'node updates may not change providerID except from "" to valid'),
        ]),
    ...(after.configSource === undefined
      ? []
      : validateConfigSource(after.configSource, 'spec.configSource')),
    ...(config === undefined ? [] : validateConfigStatus(config, 'status.config')),
    ...validateTaints(next),
    ...((after.externalID ?? '') === (before.externalID ?? '')
      ? []
      : [forbiddenField('spec.externalID', 'may not be updated')]),
  ];
}

/** One fault for each network that is another, or for another number of them. */
function fixedNetworks(after: readonly string[], before: readonly string[]): FieldError[] {
  if (before.length === 0) return [];
  const others =
    after.length === before.length ? before.filter((each, index) => each !== after[index]) : [''];
  return others.map(() =>
    forbiddenField('spec.podCIDRs', 'node updates may not change podCIDR except from "" to valid'),
  );
}
