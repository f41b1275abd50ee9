import type {
  Container,
  NodeAffinity,
  NodeSelectorTerm,
  Pod,
  PodSchedulingGate,
  PodSpec,
} from '../../../../../shared/api/types/core-v1';
import { isInForce } from '../../../../../shared/api/changes';
import { ANNOTATION } from '../../../../../shared/names';
import { deepEqual } from '../../../../../shared/object/clone';
import { describeDiff } from '../../../../../shared/errors/describe-diff';
import type { FieldError } from '../../../../../shared/errors/field-error';
import { forbiddenField, invalid, required } from '../../../../../shared/errors/field-error';
import type { Int64 } from '../../../../../shared/object/values';
import { integer } from '../../../../../shared/object/accessors';
import type { ReadonlyJson } from '../../../../../shared/object/json';
import { isSemanticallyEqual } from '../../../../../shared/schema/same-meaning';
import type { MessageType } from '../../../../../shared/schema/types';
import { messageType } from '../../../../../shared/schema/types';
import type { KindSettings, Strategy } from '../../../../engine/registry/strategy';
import { validateEphemeralContainers } from '../../pod-template/containers';
import {
  validateAppArmorTwins,
  validatePodAnnotations,
  validatePodAnnotationsUpdate,
  validateSeccompTwins,
} from '../../pod-template/pod-annotations';
import { validatePodSpec } from '../../pod-template/pod-spec';
import { privilegeRule } from '../../pod-template/privileged-containers';
import { validateTolerationsUpdate } from '../../pod-template/tolerations';
import { validateVolumes } from '../../pod-template/volumes';
import { forEachItem } from '../../rules/primitives';
import { qosClassOf } from './pod-qos';

const INT32_MAX = 2_147_483_647;
const CONTAINER_LISTS = ['containers', 'initContainers'] as const;

export const podRules: Pick<Strategy<Pod>, 'validate' | 'validateNew' | 'validateUpdate'> = {
  validate: (pod, { settings }) => [
    ...validatePod(pod, settings),
    ...privilegeRule(pod.spec, { path: 'spec', settings }),
  ],
  validateNew: validatePodCreate,
  validateUpdate: validatePodUpdate,
};

/** What holds for a pod at any time. */
export function validatePod(pod: Pod, settings: KindSettings): FieldError[] {
  const { spec } = pod;
  const annotations = pod.metadata.annotations ?? {};
  return [
    ...validatePodAnnotations(annotations, 'metadata.annotations', spec),
    ...validatePodSpec(spec, 'spec', pod.metadata.name ?? '', settings),
    ...tokensWithoutAccount(spec),
    ...CONTAINER_LISTS.flatMap((list) => trimmedImages(spec[list] ?? [], `spec.${list}`)),
  ];
}

/** What holds for a new pod besides. */
function validatePodCreate(pod: Pod): FieldError[] {
  const { spec } = pod;
  return [
    ...((spec.ephemeralContainers ?? []).length > 0
      ? [forbiddenField('spec.ephemeralContainers', 'cannot be set on create')]
      : []),
    ...((spec.nodeName ?? '') !== '' && (spec.schedulingGates ?? []).length > 0
      ? [forbiddenField('spec.nodeName', 'cannot be set until all schedulingGates have been cleared')]
      : []),
    ...validateSeccompTwins(pod.metadata.annotations ?? {}, spec, 'spec'),
    ...validateAppArmorTwins(pod.metadata.annotations ?? {}, spec, 'spec'),
  ];
}

function tokensWithoutAccount({ serviceAccountName = '', volumes = [] }: PodSpec): FieldError[] {
  if (serviceAccountName !== '') return [];
  return forEachItem(volumes, 'spec.volumes', ({ projected }, at) =>
    forEachItem(projected?.sources ?? [], `${at}.projected.sources`, ({ serviceAccountToken }, place) =>
      serviceAccountToken === undefined
        ? []
        : [
            forbiddenField(
              `${place}.serviceAccountToken`,
              'must not be specified when serviceAccountName is not set',
            ),
          ],
    ),
  );
}

function trimmedImages(containers: readonly Container[], path: string): FieldError[] {
  return forEachItem(containers, path, ({ image = '' }, at) =>
    image.trim() === image
      ? []
      : [invalid(`${at}.image`, image, 'must not have leading or trailing whitespace')],
  );
}

/** What a change may do to a pod: other images, a shorter deadline, more tolerations; nothing else in its spec. */
function validatePodUpdate(next: Pod, previous: Pod): FieldError[] {
  const { spec } = next;
  const { spec: old } = previous;
  const first = [...validatePodAnnotationsUpdate(next, previous)];
  for (const list of CONTAINER_LISTS) {
    if ((spec[list] ?? []).length !== (old[list] ?? []).length) {
      return [...first, forbiddenField(`spec.${list}`, 'pod updates may not add or remove containers')];
    }
    first.push(...someImages(spec[list] ?? [], `spec.${list}`));
  }
  const late = deadline(integer(spec.activeDeadlineSeconds), integer(old.activeDeadlineSeconds));
  // A bad number ends the comparison, a missing one does not; so does upstream.
  if (late.length > 0 && spec.activeDeadlineSeconds !== undefined) return [...first, ...late];
  const gated = (old.schedulingGates ?? []).length > 0 ? gatedPodUpdate(spec, old) : undefined;
  return [
    ...first,
    ...late,
    ...validateTolerationsUpdate(spec.tolerations, old.tolerations, 'spec.tolerations'),
    ...newSchedulingGates(spec.schedulingGates, old.schedulingGates),
    ...(gated?.errors ?? []),
    ...unlessSame(
      {
        type: POD_SPEC,
        next: settled(gated?.spec ?? spec),
        previous: settled(old, (spec.terminationGracePeriodSeconds ?? 0) === 1),
        place: 'spec',
      },
      'spec',
      FIXED,
    ),
    ...(isInForce('podQosIsFixed') && qosClassOf(spec) !== qosClassOf(old)
      ? [invalid('metadata', qosClassOf(spec), 'Pod QoS is immutable')]
      : []),
  ];
}

const FIXED =
  'pod updates may not change fields other than `spec.containers[*].image`, `spec.initContainers[*].image`, `spec.activeDeadlineSeconds` or `spec.tolerations` (only additions to existing tolerations)';

/** Gates can be opened, and none is closed afterwards. */
function newSchedulingGates(
  next: readonly PodSchedulingGate[] | undefined,
  previous: readonly PodSchedulingGate[] | undefined,
): FieldError[] {
  const known = new Set((previous ?? []).map(({ name }) => name));
  return forEachItem(next ?? [], 'spec.schedulingGates', ({ name }, at) =>
    known.has(name)
      ? []
      : [
          forbiddenField(
            isInForce('schedulingGateNames') ? `${at}.name` : at,
            `only deletion is allowed, but found new scheduling gate '${name}'`,
          ),
        ],
  );
}

/**
 * A pod that is not yet scheduled may be restricted further to some nodes: the errors, and the spec without these changes. Source: the part of
 * ValidatePodUpdate for gated pods, v1.36.
 */
function gatedPodUpdate(
  spec: PodSpec,
  previous: PodSpec,
): { readonly errors: readonly FieldError[]; readonly spec: PodSpec } {
  const { nodeSelector = {}, affinity: { nodeAffinity, ...others } = {}, ...rest } = spec;
  const { nodeSelector: oldSelector, affinity: oldAffinity } = previous;
  const isNarrower = Object.entries(oldSelector ?? {}).every(([key, value]) => nodeSelector[key] === value);
  const path = 'spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms';
  const affinity = {
    ...others,
    ...(oldAffinity?.nodeAffinity === undefined ? {} : { nodeAffinity: oldAffinity.nodeAffinity }),
  };
  const hasAffinity = Object.keys(affinity).length > 0 || oldAffinity !== undefined;
  return {
    errors: [
      ...(isNarrower
        ? []
        : [
            invalid(
              'spec.nodeSelector',
              nodeSelector,
              'only additions to spec.nodeSelector are allowed (no mutations or deletions)',
            ),
          ]),
      ...narrowedTerms(requiredTerms(nodeAffinity), requiredTerms(oldAffinity?.nodeAffinity), path),
    ],
    spec: {
      ...rest,
      ...(oldSelector === undefined ? {} : { nodeSelector: oldSelector }),
      ...(hasAffinity ? { affinity } : {}),
    },
  };
}

function requiredTerms(affinity: NodeAffinity | undefined): readonly NodeSelectorTerm[] {
  return affinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
}

/** Any of the terms may match, so that none comes or goes; all requirements of a term must, so that some may come. */
function narrowedTerms(
  next: readonly NodeSelectorTerm[],
  previous: readonly NodeSelectorTerm[],
  path: string,
): FieldError[] {
  if (previous.length === 0) return [];
  if (next.length !== previous.length) {
    return [invalid(path, next, 'no additions/deletions to non-empty NodeSelectorTerms list are allowed')];
  }
  return forEachItem(previous, path, (old, at, index) => {
    const term = next[index] ?? {};
    const isEmpty = [old.matchExpressions, old.matchFields].every((list) => (list ?? []).length === 0);
    const grows = [term.matchExpressions, term.matchFields].some((list) => (list ?? []).length > 0);
    const keeps = (['matchExpressions', 'matchFields'] as const).every((name) => {
      const kept = old[name] ?? [];
      return deepEqual((term[name] ?? []).slice(0, kept.length), kept);
    });
    return keeps && !(isEmpty && grows)
      ? []
      : [invalid(at, term, 'only additions are allowed (no mutations or deletions)')];
  });
}

interface Change {
  readonly type: MessageType;
  readonly next: unknown;
  readonly previous: unknown;
  /** The path of both objects. */
  readonly place: string;
}

const POD_SPEC = messageType('core/v1.PodSpec');
const EPHEMERAL_CONTAINER = messageType('core/v1.EphemeralContainer');

/** `Forbidden` of the field where the two differ, with the reason and the differences. */
function unlessSame({ type, next, previous, place }: Change, field: string, why: string): FieldError[] {
  if (isSemanticallyEqual(type, next, previous)) return [];
  return [forbiddenField(field, `${why}${describeDiff(place, next, previous)}`)];
}

function someImages(containers: readonly Container[], path: string): FieldError[] {
  return forEachItem(containers, path, ({ image = '' }, at) =>
    image === '' ? [required(`${at}.image`)] : [],
  );
}

function deadline(next: Int64 | undefined, previous: Int64 | undefined): FieldError[] {
  const path = 'spec.activeDeadlineSeconds';
  if (next === undefined) {
    if (previous === undefined) return [];
    return [invalid(path, null, 'must not update from a positive integer to nil value')];
  }
  if (next < 0 || next > INT32_MAX) {
    return [invalid(path, next, `must be between 0 and ${String(INT32_MAX)}, inclusive`)];
  }
  if (previous === undefined || next <= previous) return [];
  return [invalid(path, next, 'must be less than or equal to previous value')];
}

/** What a change of the ephemeral containers may do: add some. */
export function validateEphemeralContainersUpdate(
  next: Pod,
  previous: Pod,
  settings: KindSettings,
): FieldError[] {
  const path = 'spec.ephemeralContainers';
  const { spec } = next;
  const isOfPod = isInForce('ephemeralContainersOfPods');
  if (isOfPod && previous.metadata.annotations?.[ANNOTATION.mirrorPod] !== undefined) {
    return [forbiddenField('', 'static pods do not support ephemeral containers')];
  }
  const { volumes } = validateVolumes(spec.volumes, 'spec.volumes', next.metadata.name ?? '');
  const { ephemeralContainers: wanted = [] } = spec;
  const byName = new Map(wanted.toReversed().map((each) => [each.name, each]));
  return [
    ...(isOfPod
      ? validatePod(next, settings)
      : validateEphemeralContainers({ spec, volumes, settings }, path)),
    ...(isOfPod ? validatePodAnnotationsUpdate(next, previous) : []),
    ...(previous.spec.ephemeralContainers ?? []).flatMap((old) => {
      const existing = `existing ephemeral containers ${JSON.stringify(old.name)} may not be`;
      const kept = byName.get(old.name);
      // The line break is upstream's.
      if (kept === undefined) return [forbiddenField(path, `${existing} removed\n`)];
      const place = `${path}[${String(wanted.indexOf(kept))}]`;
      const change = { type: EPHEMERAL_CONTAINER, next: kept, previous: old, place };
      return unlessSame(change, path, `${existing} changed`);
    }),
  ];
}

/** A spec without what may change; `serviceAccount` is the old name of `serviceAccountName`. With `becomesOneSecond` a negative grace period is 1. */
function settled(
  {
    activeDeadlineSeconds: _deadline,
    tolerations: _tolerations,
    schedulingGates: _gates,
    serviceAccount: _account,
    ...rest
  }: PodSpec,
  becomesOneSecond = false,
): ReadonlyJson {
  const graceSeconds = rest.terminationGracePeriodSeconds ?? 0;
  const withoutImages = (containers: readonly Container[]): readonly ReadonlyJson[] =>
    containers.map(({ image: _image, ...container }) => container);
  return {
    ...rest,
    ...(becomesOneSecond && graceSeconds < 0 ? { terminationGracePeriodSeconds: 1 } : {}),
    containers: withoutImages(rest.containers ?? []),
    initContainers: withoutImages(rest.initContainers ?? []),
  };
}
