import type { Container, Pod, PodSpec, ResourceRequirements } from '../../../../../shared/api/types/core-v1';
import type { FieldError } from '../../../../../shared/errors/field-error';
import { forbiddenField, invalid } from '../../../../../shared/errors/field-error';
import { ANNOTATION } from '../../../../../shared/names';
import { isSemanticallyEqual } from '../../../../../shared/schema/same-meaning';
import { messageType } from '../../../../../shared/schema/types';
import type { KindSettings } from '../../../../engine/registry/strategy';
import { isOn } from '../../field-gates';
import { isSidecar } from '../../pod-template/restart-policies';
import { forEachItem } from '../../rules/primitives';
import { qosClassOf } from './pod-qos';
import { validatePod } from './pod-rules';

/** `pods/resize`: other resources for a pod, in place. Source: ValidatePodResize and dropNonResizeUpdates, v1.36. */

const LISTS = ['initContainers', 'containers'] as const;

/**
 * The previous spec with the resources of the next one, of containers and (`ofPod`) of the pod; the next spec itself where its containers are
 * others, which validation refuses.
 */
export function resizedSpec(
  next: PodSpec,
  previous: PodSpec,
  { ofPod }: { readonly ofPod: boolean },
): PodSpec {
  if (LISTS.some((list) => (next[list] ?? []).length !== (previous[list] ?? []).length)) return next;
  const { resources: _previous, ...rest } = previous;
  const { resources } = ofPod ? next : previous;
  return {
    ...rest,
    containers: resizedContainers(next.containers ?? [], previous.containers ?? []),
    ...(previous.initContainers === undefined
      ? {}
      : { initContainers: resizedContainers(next.initContainers ?? [], previous.initContainers) }),
    ...(resources === undefined ? {} : { resources }),
  };
}

function resizedContainers(next: readonly Container[], previous: readonly Container[]): readonly Container[] {
  if (next.some(({ name }, at) => name !== previous[at]?.name)) return next;
  return previous.map((old, at) => {
    const { resizePolicy: _previous, ...rest } = old;
    const { resources, resizePolicy } = next[at] ?? old;
    return { ...rest, resources, ...(resizePolicy === undefined ? {} : { resizePolicy }) };
  });
}

/** What a change of resources may do to a pod. */
export function validatePodResize(next: Pod, previous: Pod, settings: KindSettings): readonly FieldError[] {
  if (previous.metadata.annotations?.[ANNOTATION.mirrorPod] !== undefined) {
    return [forbiddenField('', 'static pods cannot be resized')];
  }
  if (previous.spec.os?.name === 'windows') return [forbiddenField('', 'windows pods cannot be resized')];
  const hasOwnResources = [next, previous].some(
    ({ spec: { resources: { requests = {}, limits = {} } = {} } }) =>
      Object.keys(requests).length + Object.keys(limits).length > 0,
  );
  const first = [
    ...validatePod(next, settings),
    ...(qosClassOf(previous.spec) === qosClassOf(next.spec)
      ? []
      : [invalid('spec', next.status?.qosClass, 'Pod QOS Class may not change as a result of resizing')]),
    ...(canBeResized(previous)
      ? []
      : [forbiddenField('spec', 'Pod running on node without support for resize')]),
  ];
  if (hasOwnResources && !isOn(settings, 'InPlacePodLevelResourcesVerticalScaling')) {
    const why =
      'resize of pods with pod-level resources is forbidden when InPlacePodLevelResourcesVerticalScalingEnabled feature gate is disabled';
    return [...first, forbiddenField('', why)];
  }
  const errors = [
    ...first,
    ...(hasOwnResources ? podResize(next.spec.resources, previous.spec.resources) : []),
    ...((previous.status?.nodeAllocatableResourceClaimStatuses ?? []).length > 0
      ? [forbiddenField('spec', 'pods with node allocatable resource claims cannot be resized')]
      : []),
  ];
  const moved = LISTS.toReversed().flatMap((list) =>
    otherContainers(next.spec[list] ?? [], previous.spec[list] ?? [], list),
  );
  if (moved.length > 0) return [...errors, ...moved];
  const found = [
    ...errors,
    ...LISTS.flatMap((list) => containerResizes(next.spec, previous.spec, { list, settings })),
  ];
  if (found.length > 0) return found;
  return isSemanticallyEqual(POD_SPEC, withOldResources(next.spec, previous.spec), previous.spec)
    ? []
    : [forbiddenField('spec', 'only cpu and memory resources are mutable')];
}

const POD_SPEC = messageType('core/v1.PodSpec');
const CONTAINER = messageType('core/v1.Container');
const REQUIREMENTS = messageType('core/v1.ResourceRequirements');

/** Nodes that know of resizing report the resources of running containers. */
function canBeResized({ status }: Pod): boolean {
  const running = status?.containerStatuses?.find(({ state }) => state.running !== undefined);
  return running === undefined || running.resources !== undefined;
}

function otherContainers(
  next: readonly Container[],
  previous: readonly Container[],
  list: (typeof LISTS)[number],
): readonly FieldError[] {
  const path = `spec.${list}`;
  if (next.length !== previous.length) {
    return [forbiddenField(path, `${list} may not be added or removed on resize`)];
  }
  return forEachItem(previous, path, ({ name }, at, index) =>
    next[index]?.name === name
      ? []
      : [forbiddenField(`${at}.name`, `${list} may not be renamed or reordered on resize`)],
  );
}

function containerResizes(
  next: PodSpec,
  previous: PodSpec,
  { list, settings }: { readonly list: (typeof LISTS)[number]; readonly settings: KindSettings },
): readonly FieldError[] {
  const isInit = list === 'initContainers';
  const all = !isInit || isOn(settings, 'InPlacePodVerticalScalingInitContainers');
  return forEachItem(previous[list] ?? [], `spec.${list}`, (old, at, index) => {
    const container = next[list]?.[index] ?? old;
    const isLasting = isSidecar(container);
    if (isSemanticallyEqual(CONTAINER, container, old)) return [];
    if (!all && !isLasting) {
      return [forbiddenField('spec', 'resources for non-sidecar init containers are immutable')];
    }
    const restarts = (container.resizePolicy ?? []).some(
      ({ restartPolicy }) => restartPolicy === 'RestartContainer',
    );
    const masked = { ...container, resources: masking(container.resources, old.resources) };
    return [
      ...removed(container.resources, old.resources, `${at}.resources`, 'resource'),
      ...(isSemanticallyEqual(CONTAINER, masked, old)
        ? []
        : [
            isInit
              ? forbiddenField(at, 'only cpu and memory resources for init or sidecar containers are mutable')
              : forbiddenField('spec', 'only cpu and memory resources are mutable'),
          ]),
      ...(isInit && !isLasting && restarts
        ? [
            forbiddenField(
              at,
              'non-sidecar init containers with a resize policy of RestartContainer cannot be resized',
            ),
          ]
        : []),
    ];
  });
}

function podResize(
  next: ResourceRequirements | undefined,
  previous: ResourceRequirements | undefined,
): readonly FieldError[] {
  const path = 'spec.resources';
  if (previous !== undefined && next === undefined) {
    return [forbiddenField(path, 'pod-level resources cannot be removed')];
  }
  const isSame = isSemanticallyEqual(REQUIREMENTS, masking(next ?? {}, previous ?? {}), previous ?? {});
  return [
    ...removed(next ?? {}, previous ?? {}, path, 'pod-level resource'),
    ...(isSame ? [] : [forbiddenField('spec', 'only cpu and memory resources are mutable at pod-level')]),
  ];
}

function removed(
  next: ResourceRequirements,
  previous: ResourceRequirements,
  path: string,
  what: string,
): readonly FieldError[] {
  return (['requests', 'limits'] as const)
    .filter((part) => Object.keys(previous[part] ?? {}).some((name) => next[part]?.[name] === undefined))
    .map((part) => forbiddenField(`${path}.${part}`, `${what} ${part} cannot be removed`));
}

/** The next resources with cpu and memory of the previous ones. Claims do not count, as upstream. */
function masking(next: ResourceRequirements, previous: ResourceRequirements): ResourceRequirements {
  const part = (name: 'requests' | 'limits'): Readonly<Record<string, string>> | undefined => {
    if (next[name] === undefined && previous[name] === undefined) return undefined;
    const { cpu: _cpu, memory: _memory, ...rest } = next[name] ?? {};
    const { cpu, memory } = previous[name] ?? {};
    return {
      ...rest,
      ...(cpu === undefined ? {} : { cpu }),
      ...(memory === undefined ? {} : { memory }),
    };
  };
  const [limits, requests] = [part('limits'), part('requests')];
  return {
    ...(limits === undefined || Object.keys(limits).length === 0 ? {} : { limits }),
    ...(requests === undefined || Object.keys(requests).length === 0 ? {} : { requests }),
    ...(previous.claims === undefined ? {} : { claims: previous.claims }),
  };
}

function withOldResources(next: PodSpec, previous: PodSpec): PodSpec {
  const { containers, initContainers, resources } = previous;
  const { resources: _next, ...rest } = next;
  return {
    ...rest,
    containers,
    ...(initContainers === undefined ? {} : { initContainers }),
    ...(resources === undefined ? {} : { resources }),
  };
}
