import type {
  PodTemplate,
  PodTemplateSpec,
  ReplicationController,
} from '../../../../shared/api/types/core-v1';
import type {
  ControllerRevision,
  DaemonSet,
  DaemonSetUpdateStrategy,
  Deployment,
  DeploymentSpec,
  DeploymentStrategy,
  ReplicaSet,
  RollingUpdateDaemonSet,
  RollingUpdateDeployment,
} from '../../../../shared/api/types/apps-v1';
import type { FieldError } from '../../../../shared/errors/field-error';
import { forbiddenField, invalid, notSupported, required } from '../../../../shared/errors/field-error';
import { goStruct } from '../../../../shared/errors/go-values';
import type { LabelSelector } from '../../../../shared/meta/labels';
import { labelSelectorOfMap } from '../../../../shared/meta/labels';
import { validateLabelSelector } from '../../../../shared/meta/validate-labels';
import { deepEqual } from '../../../../shared/object/clone';
import { stringifyExact } from '../../../../shared/object/exact-text';
import type { KindSettings, Strategy } from '../../../engine/registry/strategy';
import { isOn } from '../field-gates';
import { privilegeRule } from '../pod-template/privileged-containers';
import { validatePodTemplateSpec, validateReplicatedPodSpec } from '../pod-template/pod-spec';
import { fields, nonNegative } from '../rules/primitives';
import { strategyInGo } from './strategy-in-go';
import { atMostAll, intOrPercent, isNone, shareInGo } from '../rules/rollout';
import { selectorInGo } from '../rules/selector-in-go';
import { emptiedIn } from '../../../../shared/schema/emptied';
import { notEmpty, parsedSelector, selectsTemplate, validateOwnSelector } from '../rules/selectors';
import { validateSharedDisks } from '../pod-template/volumes';

/** ReplicationController, ReplicaSet, Deployment, DaemonSet, PodTemplate and ControllerRevision. */

const POD_SPEC = 'spec.template.spec';

export const podTemplateRules: Pick<Strategy<PodTemplate>, 'validate'> = {
  validate: ({ template }, { settings }) => [
    ...validatePodTemplateSpec(template, 'template'),
    ...privilegeRule(template.spec, { path: 'template.spec', settings }),
  ],
};

export const replicationControllerRules: Pick<Strategy<ReplicationController>, 'validate'> = {
  validate: (controller, { settings }) => {
    const { spec } = controller;
    const { selector = {}, template } = spec;
    return [
      ...nonNegative(spec.minReadySeconds, 'spec.minReadySeconds'),
      ...(Object.keys(selector).length === 0 ? [required('spec.selector')] : []),
      ...nonNegative(spec.replicas, 'spec.replicas'),
      ...replicatedTemplate(controller, labelSelectorOfMap(selector), 'ReplicationController'),
      ...(template === undefined ? [] : privilegeRule(template.spec, { path: POD_SPEC, settings })),
    ];
  },
};

export const replicaSetRules: Pick<Strategy<ReplicaSet>, 'validate' | 'validateUpdate'> = {
  validate: (set, { settings }) => [
    ...counts(set.spec, 'spec'),
    ...selectorAndTemplate(set),
    ...privilegeRule(set.spec.template.spec, { path: POD_SPEC, settings }),
  ],
  validateUpdate: sameSelector,
};

export const deploymentRules: Pick<Strategy<Deployment>, 'validate' | 'validateUpdate'> = {
  validate: (deployment, { settings }) => {
    const { spec } = deployment;
    const { progressDeadlineSeconds: deadline, minReadySeconds = 0 } = spec;
    return [
      ...nonNegative(spec.replicas, 'spec.replicas'),
      ...selectorAndTemplate(deployment),
      ...deploymentStrategy(spec.strategy, 'spec.strategy'),
      ...rolloutCounts(spec, 'spec'),
      ...(deadline !== undefined && deadline <= minReadySeconds
        ? [invalid('spec.progressDeadlineSeconds', deadline, 'must be greater than minReadySeconds')]
        : []),
      ...privilegeRule(spec.template.spec, { path: POD_SPEC, settings }),
    ];
  },
  validateUpdate: sameSelector,
};

/** The pods of a DaemonSet share disks, for they are on many nodes. */
export const daemonSetRules: Pick<Strategy<DaemonSet>, 'validate' | 'validateUpdate'> = {
  validate: (set, { settings }) => {
    const { spec } = set;
    const { template } = spec;
    const selector = parsedSelector(spec.selector);
    const emptied = emptiedIn(set, 'spec');
    const path = 'spec.template';
    return [
      ...validateLabelSelector(spec.selector ?? undefined, 'spec.selector'),
      ...(selector === undefined ? [] : selectsTemplate(selector, template, emptied)),
      ...notEmpty(spec.selector, 'daemonset', emptied),
      ...validatePodTemplateSpec(template, path),
      ...validateSharedDisks(template.spec.volumes, `${path}.spec.volumes`),
      ...validateReplicatedPodSpec(template, path, 'DaemonSet'),
      ...nonNegative(spec.minReadySeconds, 'spec.minReadySeconds'),
      ...daemonSetStrategy(spec.updateStrategy, 'spec.updateStrategy', settings),
      ...nonNegative(spec.revisionHistoryLimit, 'spec.revisionHistoryLimit'),
      ...privilegeRule(template.spec, { path: POD_SPEC, settings }),
    ];
  },
  validateUpdate: sameSelector,
};

/** A ControllerRevision: a number and what it remembers, which stays. */
export const controllerRevisionRules: Pick<Strategy<ControllerRevision>, 'validate' | 'validateUpdate'> = {
  validate: ({ data, revision }) => [
    ...(data === undefined || data === null ? [required('data', 'data is mandatory')] : []),
    ...nonNegative(revision, 'revision'),
  ],
  validateUpdate: (next, previous) =>
    deepEqual(next.data, previous.data) ? [] : [invalid('data', dataInGo(next.data), 'field is immutable')],
};

/** Longer data is shown as it is: each of its bytes would take six. */
const DATA_CHARS_MAX = 16 * 1024;

/** What a revision remembers, as refusals show it: the bytes of its JSON. */
function dataInGo(data: unknown): unknown {
  if (data === undefined || data === null) return data;
  const json = stringifyExact(data);
  if (json.length > DATA_CHARS_MAX) return data;
  const bytes = Array.from(Buffer.from(json), (byte) => `0x${byte.toString(16)}`);
  return goStruct('runtime.Unknown', {
    TypeMeta: 'runtime.TypeMeta{APIVersion:"", Kind:""}',
    Raw: `[]uint8{${bytes.join(', ')}}`,
    ContentEncoding: '""',
    ContentType: '"application/json"',
  });
}

const counts = fields<Pick<DeploymentSpec, 'replicas' | 'minReadySeconds'>>({
  replicas: nonNegative,
  minReadySeconds: nonNegative,
});

const rolloutCounts = fields<DeploymentSpec>({
  minReadySeconds: nonNegative,
  revisionHistoryLimit: nonNegative,
  progressDeadlineSeconds: nonNegative,
});

/** The selector of a workload stays what it was. */
function sameSelector<T extends { readonly spec: Pick<DeploymentSpec, 'selector'> }>(
  next: T,
  previous: T,
): FieldError[] {
  if (deepEqual(next.spec.selector, previous.spec.selector)) return [];
  const shown = selectorInGo(next.spec.selector, emptiedIn(next, 'spec'));
  return [invalid('spec.selector', shown, 'field is immutable')];
}

function selectorAndTemplate(
  workload: Workload & { readonly spec: Pick<DeploymentSpec, 'selector'> },
): FieldError[] {
  const { selector: given } = workload.spec;
  const selector = parsedSelector(given);
  const emptied = emptiedIn(workload, 'spec');
  return [
    ...validateOwnSelector(given, 'deployment', emptied),
    ...(selector === undefined
      ? [invalid('spec.selector', selectorInGo(given, emptied), 'invalid label selector')]
      : replicatedTemplate(workload, selector, 'ReplicaSet')),
  ];
}

interface Workload {
  readonly spec: { readonly replicas?: number; readonly template?: PodTemplateSpec };
}

function replicatedTemplate(workload: Workload, selector: LabelSelector, kind: string): FieldError[] {
  const { replicas = 0, template } = workload.spec;
  const path = 'spec.template';
  if (template === undefined) return [required(path)];
  return [
    ...selectsTemplate(selector, template, emptiedIn(workload, 'spec')),
    ...validatePodTemplateSpec(template, path),
    ...(replicas > 1 ? validateSharedDisks(template.spec.volumes, `${path}.spec.volumes`) : []),
    ...validateReplicatedPodSpec(template, path, kind),
  ];
}

function deploymentStrategy(strategy: DeploymentStrategy, path: string): FieldError[] {
  const at = `${path}.rollingUpdate`;
  const { type = '', rollingUpdate: rolling } = strategy;
  switch (type) {
    case 'Recreate':
      return rolling === undefined
        ? []
        : [forbiddenField(at, "may not be specified when strategy `type` is 'Recreate'")];
    case 'RollingUpdate':
      return rolling === undefined
        ? [required(at, 'this should be defaulted and never be nil')]
        : rollingDeployment(rolling, at);
    default:
      return [notSupported(path, strategyInGo('Deployment', strategy), ['Recreate', 'RollingUpdate'])];
  }
}

function rollingDeployment(
  { maxUnavailable, maxSurge }: RollingUpdateDeployment,
  path: string,
): FieldError[] {
  const at = `${path}.maxUnavailable`;
  return [
    ...intOrPercent(maxUnavailable, at),
    ...intOrPercent(maxSurge, `${path}.maxSurge`),
    ...(isNone(maxUnavailable) && isNone(maxSurge)
      ? [invalid(at, shareInGo(maxUnavailable), 'may not be 0 when `maxSurge` is 0')]
      : []),
    ...atMostAll(maxUnavailable, at),
  ];
}

function daemonSetStrategy(
  strategy: DaemonSetUpdateStrategy,
  path: string,
  settings: KindSettings,
): FieldError[] {
  const at = `${path}.rollingUpdate`;
  const { type = '', rollingUpdate: rolling } = strategy;
  switch (type) {
    case 'OnDelete':
      return [];
    case 'RollingUpdate':
      return rolling === undefined ? [required(at)] : rollingDaemonSet(rolling, at, settings);
    default:
      return [notSupported(path, strategyInGo('DaemonSet', strategy), ['RollingUpdate', 'OnDelete'])];
  }
}

function rollingDaemonSet(
  { maxUnavailable, maxSurge }: RollingUpdateDaemonSet,
  path: string,
  settings: KindSettings,
): FieldError[] {
  const at = `${path}.maxUnavailable`;
  if (!isOn(settings, 'DaemonSetUpdateSurge')) {
    return [
      ...intOrPercent(maxUnavailable, at),
      ...(isNone(maxUnavailable) ? [invalid(at, shareInGo(maxUnavailable), 'cannot be 0')] : []),
      ...atMostAll(maxUnavailable, at),
    ];
  }
  const surges = !isNone(maxSurge);
  const surgeAt = `${path}.maxSurge`;
  return [
    ...intOrPercent(maxUnavailable, at),
    ...(maxSurge === undefined ? [] : intOrPercent(maxSurge, surgeAt)),
    ...atMostAll(maxUnavailable, at),
    ...atMostAll(maxSurge, surgeAt),
    ...(surges && !isNone(maxUnavailable)
      ? [invalid(surgeAt, shareInGo(maxSurge), 'may not be set when maxUnavailable is non-zero')]
      : []),
    ...(!surges && isNone(maxUnavailable) ? [required(at, 'cannot be 0 when maxSurge is 0')] : []),
  ];
}
