import type {
  DaemonSet,
  DaemonSetUpdateStrategy,
  RollingUpdateDaemonSet,
} from '../../../../shared/api/types/apps-v1';
import type { FieldError } from '../../../../shared/errors/field-error';
import { invalid, notSupported, required } from '../../../../shared/errors/field-error';
import type { StatusError } from '../../../../shared/errors/status-error';
import { badRequest } from '../../../../shared/errors/status-error';
import { validateLabelSelector } from '../../../../shared/meta/validate-labels';
import type { IntOrString } from '../../../../shared/object/values';
import { getEmptiedFields } from '../../../../shared/schema/emptied';
import { isSemanticallyEqual } from '../../../../shared/schema/same-meaning';
import { messageType } from '../../../../shared/schema/types';
import type { KindSettings, Strategy, WriteInfo } from '../../../engine/registry/strategy';
import { statusSubresource } from '../../../engine/registry/strategy';
import { AGE, NAME, WORKLOAD_COLUMNS } from '../columns/common';
import { labelsText } from '../columns/format';
import { tableOf } from '../columns/table';
import { isOn } from '../field-gates';
import type { Kind } from '../kind';
import { withKeptTemplate } from '../pod-template/kept-template';
import { validatePodTemplateSpec, validateReplicatedPodSpec } from '../pod-template/pod-spec';
import { privilegeRule } from '../pod-template/privileged-containers';
import { validateSharedDisks } from '../pod-template/volumes';
import { nonNegative } from '../rules/primitives';
import { atMostAll, intOrPercent, isNone, shareInGo } from '../rules/rollout';
import { notEmpty, parsedSelector, selectsTemplate } from '../rules/selectors';
import { POD_SPEC, sameSelector, strategyInGo } from './workload-rules';
import { workloadStatus } from './workload-status';

/** The pods of a DaemonSet share disks, for they are on many nodes. */
const daemonSetRules: Pick<Strategy<DaemonSet>, 'validate' | 'validateUpdate'> = {
  validate: (set, { settings }) => {
    const { spec } = set;
    const { template } = spec;
    const selector = parsedSelector(spec.selector);
    const emptied = getEmptiedFields(set, 'spec');
    const path = 'spec.template';
    return [
      ...validateLabelSelector(spec.selector ?? undefined, 'spec.selector'),
      ...(selector === undefined ? [] : selectsTemplate(selector, template, emptied)),
      ...notEmpty(spec.selector, 'daemonset', emptied),
      ...validatePodTemplateSpec(template, path, settings),
      ...validateSharedDisks(template.spec.volumes, `${path}.spec.volumes`),
      ...validateReplicatedPodSpec(template, path, 'DaemonSet'),
      ...nonNegative(spec.minReadySeconds, 'spec.minReadySeconds'),
      ...validateDaemonSetStrategy(spec.updateStrategy, 'spec.updateStrategy', settings),
      ...nonNegative(spec.revisionHistoryLimit, 'spec.revisionHistoryLimit'),
      ...privilegeRule(template.spec, { path: POD_SPEC, settings }),
    ];
  },
  validateUpdate: sameSelector,
};

function validateDaemonSetStrategy(
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

/** An old field of DaemonSets, which counts changes of the template and lives on as an annotation. */
const TEMPLATE_GENERATION = 'deprecated.daemonset.template.generation';

/** A new DaemonSet begins at 1, or where the client says. Throws BadRequest for what is no number. */
function withFirstTemplateGeneration(daemonSet: DaemonSet): DaemonSet {
  const given = generationOf(daemonSet);
  return withGeneration(daemonSet, given > 1n ? given : 1n);
}

/**
 * A change keeps the count of the previous object, and another template adds 1 to it; what the client says counts for nothing, but has to be a
 * number. Throws BadRequest for what is none.
 */
function withNextTemplateGeneration(next: DaemonSet, previous: DaemonSet): DaemonSet {
  generationOf(next);
  const isSame = isSemanticallyEqual(POD_TEMPLATE, next.spec.template, previous.spec.template);
  return withGeneration(next, generationOf(previous) + (isSame ? 0n : 1n));
}

const POD_TEMPLATE = messageType('core/v1.PodTemplateSpec');
const DIGITS_MAX = 19;

function generationOf(daemonSet: DaemonSet): bigint {
  const given = daemonSet.metadata.annotations?.[TEMPLATE_GENERATION];
  if (given === undefined) return 0n;
  const [, sign = '', digits] = /^([+-]?)0*(\d+)$/.exec(given) ?? [];
  if (digits === undefined) throw unread(given, 'invalid syntax');
  const count = digits.length > DIGITS_MAX ? undefined : BigInt(`${sign === '-' ? '-' : ''}${digits}`);
  if (count === undefined || BigInt.asIntN(64, count) !== count) throw unread(given, 'value out of range');
  return count;
}

function unread(given: string, why: string): StatusError {
  const read = `strconv.ParseInt: parsing ${JSON.stringify(given)}: ${why}`;
  return badRequest(`DaemonSet in version "v1" cannot be handled as a DaemonSet: ${read}`);
}

function withGeneration(daemonSet: DaemonSet, generation: bigint): DaemonSet {
  const annotations = { ...daemonSet.metadata.annotations, [TEMPLATE_GENERATION]: String(generation) };
  return { ...daemonSet, metadata: { ...daemonSet.metadata, annotations } };
}

const daemonSetStrategy: Strategy<DaemonSet> = {
  ...daemonSetRules,
  tracksGeneration: true,
  prepareForCreate: (object, info) => withFirstTemplateGeneration(keptDaemonSet(object, info)),
  prepareForUpdate: (next, previous, info) =>
    withNextTemplateGeneration(keptDaemonSet(next, info, previous), previous),
  subresources: {
    status: {
      ...workloadStatus('daemonsets').status,
      prepareForUpdate: (next, previous) =>
        withNextTemplateGeneration(statusSubresource.prepareForUpdate(next, previous), previous),
    },
  },
};

/** `maxSurge` belongs to a feature that is off by default: it is none then, unless there has been some. */
function keptDaemonSet(daemonSet: DaemonSet, info: WriteInfo, previous?: DaemonSet): DaemonSet {
  const kept = withKeptTemplate(daemonSet, info, previous);
  if (isOn(info.settings, 'DaemonSetUpdateSurge')) return kept;
  const { updateStrategy } = kept.spec;
  const { rollingUpdate } = updateStrategy;
  if (rollingUpdate === undefined) return kept;
  const hadSome = !isUnsetOrZero(previous?.spec.updateStrategy.rollingUpdate?.maxSurge);
  const settled = hadSome ? withoutZeroShare(rollingUpdate) : { ...rollingUpdate, maxSurge: 0 };
  return { ...kept, spec: { ...kept.spec, updateStrategy: { ...updateStrategy, rollingUpdate: settled } } };
}

/** Without the feature some pods must be allowed to be missing. Upstream sees to it for this one way of writing none. */
function withoutZeroShare(rollingUpdate: RollingUpdateDaemonSet): RollingUpdateDaemonSet {
  return rollingUpdate.maxUnavailable === '0%' ? { ...rollingUpdate, maxUnavailable: 1 } : rollingUpdate;
}

function isUnsetOrZero(share: IntOrString | undefined): boolean {
  return share === undefined || share === 0 || share === '';
}

const daemonSetTable = tableOf<DaemonSet>([
  NAME,
  { name: 'Desired', type: 'integer', cell: ({ status }) => status?.desiredNumberScheduled ?? 0 },
  { name: 'Current', type: 'integer', cell: ({ status }) => status?.currentNumberScheduled ?? 0 },
  { name: 'Ready', type: 'integer', cell: ({ status }) => status?.numberReady ?? 0 },
  { name: 'Up-to-date', type: 'integer', cell: ({ status }) => status?.updatedNumberScheduled ?? 0 },
  { name: 'Available', type: 'integer', cell: ({ status }) => status?.numberAvailable ?? 0 },
  { name: 'Node Selector', cell: ({ spec }) => labelsText(spec.template.spec.nodeSelector) },
  AGE,
  ...WORKLOAD_COLUMNS,
]);

export const daemonSets: Kind<DaemonSet> = {
  strategy: daemonSetStrategy,
  table: daemonSetTable,
  fieldAnnotations: [TEMPLATE_GENERATION],
};
