import type { FieldError } from '../../../shared/errors/field-error';
import { duplicate, forbiddenField, invalid, required } from '../../../shared/errors/field-error';
import { deepEqual } from '../../../shared/object/clone';
import { dns1123SubdomainProblems, qualifiedNameProblems } from '../../../shared/meta/dns-names';
import type { ApiObject } from '../../../shared/object/object';
import type { Json } from '../../../shared/object/accessors';
import { integer, optionalRecord, record, records, text } from '../../../shared/object/accessors';
import {
  validatePodAnnotations,
  validatePodAnnotationsUpdate,
  validateSeccompTwins,
} from '../pod-template/pod-annotations';
import { validateEphemeralContainers } from '../pod-template/containers';
import { validatePodSpec } from '../pod-template/pod-spec';
import { forEachItem, invalidForEach, ipAddress, isIpv4Address, repeatsIn } from '../rules/primitives';
import { validateTolerationsUpdate } from '../pod-template/tolerations';
import { validateVolumes } from '../pod-template/volumes';

const INT32_MAX = 2_147_483_647;
const CONTAINER_LISTS = ['containers', 'initContainers'];

/** What holds for a pod at any time. */
export function validatePod(pod: ApiObject): FieldError[] {
  const spec = record(pod['spec']);
  const annotations = pod.metadata.annotations ?? {};
  return [
    ...validatePodAnnotations(annotations, 'metadata.annotations', spec),
    ...validatePodSpec(spec, 'spec', pod.metadata.name ?? ''),
    ...tokensWithoutAccount(spec),
    ...CONTAINER_LISTS.flatMap((list) => trimmedImages(records(spec[list]), `spec.${list}`)),
  ];
}

/** What holds for a new pod besides. */
export function validatePodCreate(pod: ApiObject): FieldError[] {
  const spec = record(pod['spec']);
  return [
    ...(records(spec['ephemeralContainers']).length > 0
      ? [forbiddenField('spec.ephemeralContainers', 'cannot be set on create')]
      : []),
    ...validateSeccompTwins(pod.metadata.annotations ?? {}, spec, 'spec'),
  ];
}

function tokensWithoutAccount(spec: Json): FieldError[] {
  if (text(spec['serviceAccountName']) !== '') return [];
  return forEachItem(records(spec['volumes']), 'spec.volumes', (volume, at) =>
    forEachItem(
      records(record(volume['projected'])['sources']),
      `${at}.projected.sources`,
      (source, place) =>
        source['serviceAccountToken'] === undefined
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

function trimmedImages(containers: readonly Json[], path: string): FieldError[] {
  return forEachItem(containers, path, (container, at) => {
    const image = text(container['image']);
    return image.trim() === image
      ? []
      : [invalid(`${at}.image`, image, 'must not have leading or trailing whitespace')];
  });
}

/** What a change may do to a pod: other images, a shorter deadline, more tolerations; nothing else in its spec. */
export function validatePodUpdate(next: ApiObject, previous: ApiObject): FieldError[] {
  const spec = record(next['spec']);
  const old = record(previous['spec']);
  const annotations = validatePodAnnotationsUpdate(next, previous);
  const counts = CONTAINER_LISTS.flatMap((list) => sameCount(spec, old, list));
  if (counts.length > 0) return [...annotations, ...counts];
  const images = CONTAINER_LISTS.flatMap((list) => someImages(records(spec[list]), `spec.${list}`));
  const late = deadline(integer(spec['activeDeadlineSeconds']), integer(old['activeDeadlineSeconds']));
  // A bad number ends the comparison, a missing one does not; so does upstream.
  if (late.length > 0 && spec['activeDeadlineSeconds'] !== undefined)
    return [...annotations, ...images, ...late];
  const why =
    'pod updates may not change fields other than `spec.containers[*].image`, `spec.initContainers[*].image`, `spec.activeDeadlineSeconds` or `spec.tolerations` (only additions to existing tolerations)';
  return [
    ...annotations,
    ...images,
    ...late,
    ...validateTolerationsUpdate(spec['tolerations'], old['tolerations'], 'spec.tolerations'),
    ...(deepEqual(settled(spec), settled(old)) ? [] : [forbiddenField('spec', why)]),
  ];
}

function sameCount(spec: Json, old: Json, list: string): FieldError[] {
  return records(spec[list]).length === records(old[list]).length
    ? []
    : [forbiddenField(`spec.${list}`, 'pod updates may not add or remove containers')];
}

function someImages(containers: readonly Json[], path: string): FieldError[] {
  return forEachItem(containers, path, (container, at) =>
    text(container['image']) === '' ? [required(`${at}.image`)] : [],
  );
}

function deadline(next: number | undefined, previous: number | undefined): FieldError[] {
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
export function validateEphemeralContainersUpdate(next: ApiObject, previous: ApiObject): FieldError[] {
  const path = 'spec.ephemeralContainers';
  const spec = record(next['spec']);
  const { volumes } = validateVolumes(spec['volumes'], 'spec.volumes', next.metadata.name ?? '');
  const wanted = records(spec['ephemeralContainers']);
  const byName = new Map(wanted.toReversed().map((each) => [text(each['name']), each]));
  return [
    ...validateEphemeralContainers(spec, path, volumes),
    ...records(record(previous['spec'])['ephemeralContainers']).flatMap((old) => {
      const name = text(old['name']);
      const kept = byName.get(name);
      if (kept !== undefined && deepEqual(kept, old)) return [];
      const what = kept === undefined ? 'removed' : 'changed';
      return [
        forbiddenField(path, `existing ephemeral containers ${JSON.stringify(name)} may not be ${what}`),
      ];
    }),
  ];
}

/** A spec without what may change; `serviceAccount` is the old name of `serviceAccountName`. */
function settled(spec: Json): Json {
  const {
    activeDeadlineSeconds: _deadline,
    tolerations: _tolerations,
    serviceAccount: _account,
    ...rest
  } = spec;
  const withoutImages = (list: unknown): readonly Json[] =>
    records(list).map(({ image: _image, ...container }) => container);
  return {
    ...rest,
    containers: withoutImages(spec['containers']),
    initContainers: withoutImages(spec['initContainers']),
  };
}

const OWN_CONDITIONS: ReadonlySet<string> = new Set(['PodScheduled', 'Ready', 'Initialized']);

/** What a change of the status may say. */
export function validatePodStatusUpdate(next: ApiObject, previous: ApiObject): FieldError[] {
  const status = record(next['status']);
  const old = record(previous['status']);
  const nominated = text(status['nominatedNodeName']);
  return [
    ...validatePodAnnotationsUpdate(next, previous),
    // Upstream's path.
    ...forEachItem(records(status['conditions']), 'metadata.conditions', (condition, at) => {
      const type = text(condition['type']);
      return OWN_CONDITIONS.has(type)
        ? []
        : invalidForEach(qualifiedNameProblems(type), type, `${at}.Condition`);
    }),
    ...(nominated === '' || nominated === text(old['nominatedNodeName'])
      ? []
      : invalidForEach(dns1123SubdomainProblems(nominated), nominated, 'status.nominatedNodeName')),
    ...['containerStatuses', 'initContainerStatuses'].flatMap((list) =>
      revivals(records(status[list]), records(old[list]), {
        path: `status.${list}`,
        restartPolicy: text(record(previous['spec'])['restartPolicy']),
      }),
    ),
    ...podIps(status),
  ];
}

/** A container that ended stays so, unless the pod restarts it. */
function revivals(
  next: readonly Json[],
  previous: readonly Json[],
  { path, restartPolicy }: { readonly path: string; readonly restartPolicy: string },
): FieldError[] {
  if (restartPolicy === 'Always') return [];
  const running = new Set(
    next.filter((each) => terminated(each) === undefined).map(({ name }) => text(name)),
  );
  return forEachItem(previous, path, (old, at) => {
    const ended = terminated(old);
    if (ended === undefined) return [];
    if ((integer(ended['exitCode']) ?? 0) !== 0 && restartPolicy === 'OnFailure') return [];
    return running.has(text(old['name']))
      ? [forbiddenField(`${at}.state`, 'may not be transitioned to non-terminated state')]
      : [];
  });
}

function terminated(status: Json): Json | undefined {
  return optionalRecord(record(status['state'])['terminated']);
}

/** At most one address of each family. */
function podIps(status: Json): FieldError[] {
  const path = 'status.podIPs';
  const ips = records(status['podIPs']).map((each) => text(each['ip']));
  const isRepeated = repeatsIn(ips);
  const errors = forEachItem(ips, path, (ip, at, index) => [
    ...ipAddress(ip, at),
    ...(isRepeated(index) ? [duplicate(at, ip)] : []),
  ]);
  if (errors.length > 0 || ips.length < 2) return errors;
  const isDual = ips.length === 2 && ips.filter(isIpv4Address).length === 1;
  return isDual ? [] : [invalid(path, ips, 'may specify no more than one IP for each IP family')];
}
