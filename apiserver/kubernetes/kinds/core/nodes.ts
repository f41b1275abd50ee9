import type { Node, NodeAddress, Taint } from '../../../../shared/api/types/core-v1';
import { isInForce } from '../../../../shared/api/changes';
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
import { ANNOTATION, LABEL } from '../../../../shared/names';
import { fieldsOf, fieldsOfEach, isZero, text } from '../../../../shared/object/accessors';
import { isJsonObject } from '../../../../shared/object/clone';
import type { OwnerReference } from '../../../../shared/object/object';
import { jsonSyntaxProblem } from '../../../../shared/schema/json-syntax';
import type { KindSettings, Strategy } from '../../../engine/registry/strategy';
import { statusSubresource } from '../../../engine/registry/strategy';
import { AGE, NAME } from '../columns/common';
import { NONE, UNKNOWN } from '../columns/format';
import { tableOf } from '../columns/table';
import type { Kind } from '../kind';
import { resourceAmount } from '../pod-template/resource-requirements';
import { TAINT_EFFECTS } from '../pod-template/tolerations';
import { dualStackErrors } from '../rules/addresses';
import { forEachItem, invalidForEach, isCidr, repeatsIn } from '../rules/primitives';
import { legacyCidr } from '../rules/strict-addresses';
import { proxyToNode } from './connect/connect-proxies';
import { validateConfigSource, validateConfigStatus } from './node-config-source';

export const nodeRules: Pick<Strategy<Node>, 'validate' | 'validateUpdate' | 'subresources'> = {
  validate: (node, { settings }) => validateNode(node, settings),
  validateUpdate: validateNodeChange,
  subresources: {
    status: {
      prepareForUpdate(next, previous) {
        const changed = statusSubresource.prepareForUpdate(next, previous);
        return isInForce('nodeConfigDropped') && previous.status?.config === undefined
          ? withoutConfigStatus(changed)
          : changed;
      },
      validateUpdate: (next, previous) => [
        ...validateNodeChange(next, previous),
        ...declaredFeatures(next.status?.declaredFeatures ?? []),
      ],
    },
  },
};

function validateNode(node: Node, settings: KindSettings): FieldError[] {
  return [
    ...validateNodeAnnotations(node.metadata.annotations ?? {}, ANNOTATIONS, taintList),
    ...validateTaints(node),
    ...validateAmounts(node),
    ...validatePodNetworks(node.spec.podCIDRs ?? [], settings),
    ...declaredFeatures(node.status?.declaredFeatures ?? []),
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

const FEATURE = /^[A-Z][A-Za-z0-9]*(?:\/[A-Za-z][A-Za-z0-9]*)*$/u;

/** What a node agent says that it can do, in alphabetical order. Source: validateNodeDeclaredFeatures, v1.36. */
function declaredFeatures(features: readonly string[]): FieldError[] {
  return forEachItem(features, 'status.declaredFeatures', (feature, path, index) => {
    const before = features[index - 1];
    return [
      ...(FEATURE.test(feature) ? [] : [invalid(path, feature, `invalid feature name ${goQuote(feature)}`)]),
      ...(before === feature ? [duplicate(path, feature)] : []),
      ...(before !== undefined && before > feature
        ? [invalid(path, feature, 'list must be sorted alphabetically')]
        : []),
    ];
  });
}

function validatePodNetworks(networks: readonly string[], settings: KindSettings): FieldError[] {
  const path = 'spec.podCIDRs';
  const wrong = forEachItem(networks, path, (network, itemPath) => {
    if (isInForce('addressErrors')) return legacyCidr(network, itemPath, settings);
    // Upstream shows all of them.
    return isCidr(network) ? [] : [invalid(itemPath, networks, 'must be valid CIDR')];
  });
  if (networks.length < 2) return wrong;
  const isRepeated = repeatsIn(networks);
  return [
    ...wrong,
    ...dualStackErrors(networks, path, { what: 'CIDR', shown: networks }),
    ...forEachItem(networks, path, (network, at, index) =>
      isRepeated(index) && !isInForce('addressErrors') ? [duplicate(at, network)] : [],
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

/** Annotations of nodes that mean something to the cluster. `validate` checks a list of taints at a path. */
function validateNodeAnnotations(
  annotations: Readonly<Record<string, string>>,
  path: string,
  validate: (taints: readonly Taint[], path: string) => readonly FieldError[],
): FieldError[] {
  const { [ANNOTATION.nodeTaints]: taints = '', [ANNOTATION.nodeAvoidsPods]: avoided = '' } = annotations;
  return [
    ...(taints === '' ? [] : taintsIn(taints, path, validate)),
    ...(avoided === '' ? [] : avoidedPods(avoided, path)),
  ];
}

function taintsIn(
  given: string,
  path: string,
  validate: (taints: readonly Taint[], path: string) => readonly FieldError[],
): readonly FieldError[] {
  const { value, problem } = parsed(given);
  const isList = value === null || Array.isArray(value);
  if (problem !== undefined || !isList) {
    return [invalid(path, ANNOTATION.nodeTaints, problem ?? notInto(value, '[]core.Taint'))];
  }
  const taints = fieldsOfEach<Taint>(value).map(({ key, value: what, effect }) => ({
    key: text(key),
    value: text(what),
    effect: text(effect),
  }));
  return validate(taints, `${path}.${ANNOTATION.nodeTaints}`);
}

interface AvoidedPods {
  readonly preferAvoidPods: readonly AvoidedEntry[];
}

interface AvoidedEntry {
  readonly podSignature: AvoidedSignature;
}

interface AvoidedSignature {
  readonly podController: OwnerReference;
}

/** The paths are upstream's. */
function avoidedPods(given: string, path: string): FieldError[] {
  const { value, problem } = parsed(given);
  const isMessage = value === null || isJsonObject(value);
  if (problem !== undefined || !isMessage) {
    const why = problem ?? notInto(value, 'v1.AvoidPods');
    return [invalid(`${path}.AvoidPods`, ANNOTATION.nodeAvoidsPods, why)];
  }
  const entries = fieldsOfEach<AvoidedEntry>(fieldsOf<AvoidedPods>(value).preferAvoidPods);
  return forEachItem(entries, `${path}.${ANNOTATION.nodeAvoidsPods}`, ({ podSignature }, at) => {
    const { podController: controller } = fieldsOf<AvoidedSignature>(podSignature);
    if (!isJsonObject(controller)) return [required(`${at}.PodSignature`)];
    if (fieldsOf<OwnerReference>(controller).controller === true) return [];
    return [invalid(`${at}.PodSignature.PodController.Controller`, false, 'must point to a controller')];
  });
}

function parsed(given: string): { readonly value: unknown; readonly problem?: string } {
  try {
    return { value: JSON.parse(given) };
  } catch (error) {
    return { value: undefined, problem: jsonSyntaxProblem(Buffer.from(given)) ?? String(error) };
  }
}

/** In the words of the reference. */
function notInto(value: unknown, type: string): string {
  const kinds = { boolean: 'bool', object: Array.isArray(value) ? 'array' : 'object' } as const;
  const kind = typeof value;
  const jsonType = kind === 'boolean' || kind === 'object' ? kinds[kind] : kind;
  return `json: cannot unmarshal ${jsonType} into Go value of type ${type}`;
}

const nodeTable = tableOf<Node>([
  NAME,
  { name: 'Status', cell: nodeStatus },
  { name: 'Roles', cell: nodeRoles },
  AGE,
  { name: 'Version', cell: ({ status }) => status?.nodeInfo.kubeletVersion ?? '' },
  { name: 'Internal-IP', isWide: true, cell: (node) => addressOf(node, 'InternalIP') },
  { name: 'External-IP', isWide: true, cell: (node) => addressOf(node, 'ExternalIP') },
  { name: 'OS-Image', isWide: true, cell: ({ status }) => status?.nodeInfo.osImage || UNKNOWN },
  { name: 'Kernel-Version', isWide: true, cell: ({ status }) => status?.nodeInfo.kernelVersion || UNKNOWN },
  {
    name: 'Container-Runtime',
    isWide: true,
    cell: ({ status }) => status?.nodeInfo.containerRuntimeVersion || UNKNOWN,
  },
]);

function nodeStatus({ spec: { unschedulable = false }, status }: Node): string {
  const ready = status?.conditions?.findLast(({ type }) => type === 'Ready');
  const word = ready === undefined ? 'Unknown' : ready.status === 'True' ? 'Ready' : 'NotReady';
  return unschedulable ? `${word},SchedulingDisabled` : word;
}

function nodeRoles({ metadata: { labels = {} } }: Node): string {
  const roles = new Set<string>();
  for (const [key, value] of Object.entries(labels)) {
    const role = key.startsWith(LABEL.nodeRolePrefix)
      ? key.slice(LABEL.nodeRolePrefix.length)
      : key === LABEL.nodeRole
        ? value
        : '';
    if (role !== '') roles.add(role);
  }
  return roles.size === 0 ? NONE : [...roles].toSorted().join(',');
}

function addressOf({ status }: Node, wanted: string): string {
  return status?.addresses?.find(({ type }) => type === wanted)?.address ?? NONE;
}

function withoutConfigStatus(node: Node): Node {
  if (node.status?.config === undefined) return node;
  const { config: _config, ...status } = node.status;
  return { ...node, status };
}

/** Node agents no longer read their configuration from the API. */
const dropsConfig: Pick<Strategy<Node>, 'prepareForCreate' | 'prepareForUpdate'> = {
  prepareForCreate(node) {
    const { configSource: _source, ...spec } = node.spec;
    return withoutConfigStatus({ ...node, spec });
  },
  prepareForUpdate(next, previous) {
    if (next.spec.configSource === undefined || previous.spec.configSource !== undefined) return next;
    const { configSource: _source, ...spec } = next.spec;
    return { ...next, spec };
  },
};

export const nodes: Kind<Node> = {
  strategy: {
    ...nodeRules,
    ...(isInForce('nodeConfigDropped') ? dropsConfig : {}),
    compat: { keepsStatusOnCreate: true, keyInErrors: 'minions' },
    selectableFields: { 'spec.unschedulable': 'false' },
  },
  table: nodeTable,
  subresources: { proxy: { is: 'connection', to: proxyToNode } },
};
