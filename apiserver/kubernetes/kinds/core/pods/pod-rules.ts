import type {
  Container,
  ContainerStateTerminated,
  ContainerStatus,
  Pod,
  PodSpec,
  PodStatus,
} from '../../../../../shared/api/types/core-v1';
import { describeDiff } from '../../../../../shared/errors/describe-diff';
import type { FieldError } from '../../../../../shared/errors/field-error';
import { duplicate, forbiddenField, invalid, required } from '../../../../../shared/errors/field-error';
import { goQuote } from '../../../../../shared/errors/go-quote';
import { goStruct, goStructs } from '../../../../../shared/errors/go-values';
import type { Int64 } from '../../../../../shared/object/values';
import { dns1123SubdomainProblems, qualifiedNameProblems } from '../../../../../shared/meta/dns-names';
import { integer } from '../../../../../shared/object/accessors';
import type { ReadonlyJson } from '../../../../../shared/object/json';
import { isSemanticallyEqual } from '../../../../../shared/schema/same-meaning';
import type { MessageType } from '../../../../../shared/schema/types';
import { messageType } from '../../../../../shared/schema/types';
import type { Strategy } from '../../../../engine/registry/strategy';
import { validateEphemeralContainers } from '../../pod-template/containers';
import {
  validatePodAnnotations,
  validatePodAnnotationsUpdate,
  validateSeccompTwins,
} from '../../pod-template/pod-annotations';
import { validatePodSpec } from '../../pod-template/pod-spec';
import { privilegeRule } from '../../pod-template/privileged-containers';
import { validateTolerationsUpdate } from '../../pod-template/tolerations';
import { validateVolumes } from '../../pod-template/volumes';
import { dualStackErrors } from '../../rules/addresses';
import { forEachItem, invalidForEach, ipAddress, repeatsIn } from '../../rules/primitives';

const INT32_MAX = 2_147_483_647;
const CONTAINER_LISTS = ['containers', 'initContainers'] as const;

export const podRules: Pick<Strategy<Pod>, 'validate' | 'validateNew' | 'validateUpdate'> = {
  validate: (pod, { settings }) => [
    ...validatePod(pod),
    ...privilegeRule(pod.spec, { path: 'spec', settings }),
  ],
  validateNew: validatePodCreate,
  validateUpdate: validatePodUpdate,
};

/** What holds for a pod at any time. */
function validatePod(pod: Pod): FieldError[] {
  const { spec } = pod;
  const annotations = pod.metadata.annotations ?? {};
  return [
    ...validatePodAnnotations(annotations, 'metadata.annotations', spec),
    ...validatePodSpec(spec, 'spec', pod.metadata.name ?? ''),
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
    ...validateSeccompTwins(pod.metadata.annotations ?? {}, spec, 'spec'),
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
  const why =
    'pod updates may not change fields other than `spec.containers[*].image`, `spec.initContainers[*].image`, `spec.activeDeadlineSeconds` or `spec.tolerations` (only additions to existing tolerations)';
  return [
    ...first,
    ...late,
    ...validateTolerationsUpdate(spec.tolerations, old.tolerations, 'spec.tolerations'),
    ...unlessSame(
      { type: POD_SPEC, next: settled(spec), previous: settled(old), place: 'spec' },
      'spec',
      why,
    ),
  ];
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
export function validateEphemeralContainersUpdate(next: Pod, previous: Pod): FieldError[] {
  const path = 'spec.ephemeralContainers';
  const { spec } = next;
  const { volumes } = validateVolumes(spec.volumes, 'spec.volumes', next.metadata.name ?? '');
  const { ephemeralContainers: wanted = [] } = spec;
  const byName = new Map(wanted.toReversed().map((each) => [each.name, each]));
  return [
    ...validateEphemeralContainers(spec, path, volumes),
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

/** A spec without what may change; `serviceAccount` is the old name of `serviceAccountName`. */
function settled({
  activeDeadlineSeconds: _deadline,
  tolerations: _tolerations,
  serviceAccount: _account,
  ...rest
}: PodSpec): ReadonlyJson {
  const withoutImages = (containers: readonly Container[]): readonly ReadonlyJson[] =>
    containers.map(({ image: _image, ...container }) => container);
  return {
    ...rest,
    containers: withoutImages(rest.containers ?? []),
    initContainers: withoutImages(rest.initContainers ?? []),
  };
}

const OWN_CONDITIONS: ReadonlySet<string> = new Set(['PodScheduled', 'Ready', 'Initialized']);
const STATUS_LISTS = ['containerStatuses', 'initContainerStatuses'] as const;

/** What a change of the status may say. */
export function validatePodStatusUpdate(next: Pod, previous: Pod): FieldError[] {
  const { status = {} } = next;
  const { status: old = {} } = previous;
  const { nominatedNodeName: nominated = '' } = status;
  const wrongIps = podIps(status);
  return [
    ...validatePodAnnotationsUpdate(next, previous),
    // Upstream's path.
    ...forEachItem(status.conditions ?? [], 'metadata.conditions', ({ type }, at) =>
      OWN_CONDITIONS.has(type) ? [] : invalidForEach(qualifiedNameProblems(type), type, `${at}.Type`),
    ),
    ...(nominated === '' || nominated === old.nominatedNodeName
      ? []
      : invalidForEach(dns1123SubdomainProblems(nominated), nominated, 'status.nominatedNodeName')),
    ...STATUS_LISTS.flatMap((list) =>
      revivals(status[list] ?? [], old[list] ?? [], {
        path: `status.${list}`,
        restartPolicy: previous.spec.restartPolicy ?? '',
      }),
    ),
    // A pod that had wrong ones already may keep on having such.
    ...(wrongIps.length > 0 && podIps(old).length > 0 ? [] : wrongIps),
  ];
}

/** A container that ended stays so, unless the pod restarts it. */
function revivals(
  next: readonly ContainerStatus[],
  previous: readonly ContainerStatus[],
  { path, restartPolicy }: { readonly path: string; readonly restartPolicy: string },
): FieldError[] {
  if (restartPolicy === 'Always') return [];
  const running = new Set(next.filter((each) => terminated(each) === undefined).map(({ name }) => name));
  return forEachItem(previous, path, (old, at) => {
    const ended = terminated(old);
    if (ended === undefined) return [];
    if (ended.exitCode !== 0 && restartPolicy === 'OnFailure') return [];
    return running.has(old.name)
      ? [forbiddenField(`${at}.state`, 'may not be transitioned to non-terminated state')]
      : [];
  });
}

function terminated({ state }: ContainerStatus): ContainerStateTerminated | undefined {
  return state.terminated;
}

/** At most one address of each family. */
function podIps({ podIPs = [] }: PodStatus): FieldError[] {
  const path = 'status.podIPs';
  const ips = podIPs.map(({ ip = '' }) => ip);
  const errors = forEachItem(ips, path, ipAddress);
  if (ips.length < 2) return errors;
  const isRepeated = repeatsIn(ips);
  const shown = ips.map((ip) => goStruct('core.PodIP', { IP: goQuote(ip) }));
  return [
    ...errors,
    ...dualStackErrors(ips, path, { what: 'IP', shown: goStructs('core.PodIP', shown) }),
    ...forEachItem(shown, path, (ip, at, index) => (isRepeated(index) ? [duplicate(at, ip)] : [])),
  ];
}
