import { ANNOTATION } from '../../../../shared/names';
import type {
  Container,
  Pod,
  PodSpec,
  SeccompProfile,
  Toleration,
} from '../../../../shared/api/types/core-v1';
import type { FieldError } from '../../../../shared/errors/field-error';
import { forbiddenField, invalid } from '../../../../shared/errors/field-error';
import { goQuote } from '../../../../shared/errors/go-quote';
import { integer, records, text } from '../../../../shared/object/accessors';
import { jsonSyntaxProblem } from '../../../../shared/schema/json-syntax';
import { ownKeyMap } from '../../../../shared/own-key-map';
import { forEachItem, localDescendingPath } from '../rules/primitives';
import { forEachContainer, WINDOWS } from './operating-system';
import { validateTolerations } from './tolerations';

/** Annotations of pods and pod templates that mean something to the cluster. */

type Annotations = Readonly<Record<string, string>>;

const CONTAINER_LISTS = ['initContainers', 'containers', 'ephemeralContainers'] as const;

/** All containers of a pod with their paths. */
function allContainers(
  spec: PodSpec,
  path: string,
): readonly { readonly container: Container; readonly path: string }[] {
  return CONTAINER_LISTS.flatMap((list) => {
    const containers: readonly Container[] = spec[list] ?? [];
    return containers.map((container, index) => ({ container, path: `${path}.${list}[${String(index)}]` }));
  });
}

/** The annotations of one pod, or of a template of pods. */
export function validatePodAnnotations(annotations: Annotations, path: string, spec: PodSpec): FieldError[] {
  const isContainer = containerFinder(spec);
  const { [ANNOTATION.mirrorPod]: mirror, [ANNOTATION.podTolerations]: tolerated = '' } = annotations;
  const why = 'must set spec.nodeName if mirror pod annotation is set';
  return [
    ...(mirror !== undefined && (spec.nodeName ?? '') === ''
      ? [invalid(`${path}[${ANNOTATION.mirrorPod}]`, mirror, why)]
      : []),
    ...(tolerated === '' ? [] : tolerations(tolerated, path)),
    ...forEachItem(Object.entries(annotations), path, ([key, value]) =>
      key === ANNOTATION.seccompPod || key.startsWith(ANNOTATION.seccompContainerPrefix)
        ? seccompProfileRule(value, `${path}.${key}`)
        : [],
    ),
    ...forEachItem(Object.entries(annotations), path, ([key, value]) =>
      key.startsWith(ANNOTATION.appArmorContainerPrefix) ? appArmor(key, value, { path, isContainer }) : [],
    ),
  ];
}

function tolerations(value: string, path: string): FieldError[] {
  let parsed: unknown;
  try {
    parsed = JSON.parse(value);
  } catch (error) {
    const why = jsonSyntaxProblem(Buffer.from(value)) ?? String(error);
    return [invalid(path, ANNOTATION.podTolerations, why)];
  }
  if (parsed !== null && !Array.isArray(parsed)) {
    const why = `json: cannot unmarshal ${goKindOf(parsed)} into Go value of type []core.Toleration`;
    return [invalid(path, ANNOTATION.podTolerations, why)];
  }
  return validateTolerations(tolerationsIn(parsed), `${path}.${ANNOTATION.podTolerations}`);
}

function goKindOf(value: unknown): string {
  return typeof value === 'boolean' ? 'bool' : typeof value;
}

/** The content of the annotation is not decoded by the schema: an item that is no toleration reads as an empty one. */
function tolerationsIn(value: unknown): readonly Toleration[] {
  return records(value).map(({ key, operator, value: wanted, effect, tolerationSeconds: seconds }) => ({
    key: text(key),
    operator: text(operator),
    value: text(wanted),
    effect: text(effect),
    ...(seconds === undefined ? {} : { tolerationSeconds: integer(seconds) ?? 0 }),
  }));
}

const LOCALHOST = 'localhost/';
const RUNTIME_DEFAULT = ['runtime/default', 'docker/default'];

/** A seccomp profile, as annotations name it. */
export function seccompProfileRule(profile: string, path: string): FieldError[] {
  if (RUNTIME_DEFAULT.includes(profile) || profile === 'unconfined') return [];
  if (profile.startsWith(LOCALHOST)) return localDescendingPath(profile.slice(LOCALHOST.length), path);
  return [invalid(path, profile, 'must be a valid seccomp profile')];
}

/** Collects the names lazily, on first use. */
function containerFinder(spec: PodSpec): (name: string) => boolean {
  let names: ReadonlySet<string> | undefined;
  return (name) => {
    names ??= new Set(allContainers(spec, '').map(({ container }) => container.name));
    return names.has(name);
  };
}

function appArmor(
  key: string,
  profile: string,
  { path, isContainer }: { readonly path: string; readonly isContainer: (name: string) => boolean },
): FieldError[] {
  const name = key.slice(ANNOTATION.appArmorContainerPrefix.length);
  const isKnown = isContainer(name);
  return [
    ...(isKnown ? [] : [invalid(`${path}[${key}]`, name, 'container not found')]),
    ...appArmorProfileRule(profile, `${path}[${key}]`),
  ];
}

/** An AppArmor profile, as annotations name it. */
export function appArmorProfileRule(profile: string, path: string): FieldError[] {
  const isSound = ['', 'runtime/default', 'unconfined'].includes(profile) || profile.startsWith(LOCALHOST);
  return isSound ? [] : [invalid(path, profile, `invalid AppArmor profile name: ${goQuote(profile)}`)];
}

/**
 * Annotations of a pod that are immutable: the AppArmor and seccomp profiles, and the mirror mark. The rules of a new pod follow
 * once more, as upstream, where they hold for a change of the status, too.
 */
export function validatePodAnnotationsUpdate(pod: Pod, former: Pod): FieldError[] {
  const path = 'metadata.annotations';
  const { annotations: next = {} } = pod.metadata;
  const { annotations: previous = {} } = former.metadata;
  return [...changedAnnotations(next, previous, path), ...validatePodAnnotations(next, path, pod.spec)];
}

function changedAnnotations(next: Annotations, previous: Annotations, path: string): FieldError[] {
  const keys = [...new Set([...Object.keys(previous), ...Object.keys(next)])];
  return keys.flatMap((key) => {
    if (next[key] === previous[key]) return [];
    const what = Object.hasOwn(previous, key) ? 'remove or update' : 'add';
    if (key.startsWith(ANNOTATION.appArmorContainerPrefix)) {
      return [forbiddenField(`${path}[${key}]`, `may not ${what} AppArmor annotations`)];
    }
    if (key !== ANNOTATION.mirrorPod) return [];
    return [forbiddenField(`${path}[${key}]`, `may not ${what} mirror pod annotation`)];
  });
}

/** A seccomp profile that is set both in an annotation and in its field must be the same. `path` is that of the spec. */
export function validateSeccompTwins(annotations: Annotations, spec: PodSpec, path: string): FieldError[] {
  const places = [
    { context: spec.securityContext, key: ANNOTATION.seccompPod, path },
    ...allContainers(spec, path).map((each) => ({
      context: each.container.securityContext,
      key: `${ANNOTATION.seccompContainerPrefix}${each.container.name}`,
      path: each.path,
    })),
  ];
  return places.flatMap(({ context, key, path: at }) => {
    const profile = context?.seccompProfile;
    const annotation = annotations[key];
    if (profile === undefined || annotation === undefined) return [];
    return twins(profile, annotation, `${at}.securityContext.seccompProfile`);
  });
}

function twins(profile: SeccompProfile, annotation: string, path: string): FieldError[] {
  const differs = [forbiddenField(`${path}.type`, 'seccomp type in annotation and field must match')];
  switch (profile.type) {
    case 'Unconfined':
      return annotation === 'unconfined' ? [] : differs;
    case 'RuntimeDefault':
      return RUNTIME_DEFAULT.includes(annotation) ? [] : differs;
    case 'Localhost': {
      if (!annotation.startsWith(LOCALHOST)) return differs;
      if (annotation.slice(LOCALHOST.length) === profile.localhostProfile) return [];
      const why = 'seccomp profile in annotation and field must match';
      return [forbiddenField(`${path}.localhostProfile`, why)];
    }
    default:
      return [];
  }
}

/**
 * An AppArmor profile that is set both in an annotation and in its field, or that of the pod, must be the same. `path` is that of the spec.
 * Source: validateAppArmorAnnotationsAndFieldsMatchOnCreate, v1.36.
 */
export function validateAppArmorTwins(annotations: Annotations, spec: PodSpec, path: string): FieldError[] {
  if (spec.os?.name === WINDOWS) return [];
  const ofPod = spec.securityContext?.appArmorProfile;
  return forEachContainer(spec, path, ({ name, securityContext }, at) => {
    const { type, localhostProfile: localhost } = securityContext?.appArmorProfile ?? ofPod ?? {};
    const annotation = annotations[`${ANNOTATION.appArmorContainerPrefix}${name}`];
    const expected = APP_ARMOR_TYPES.get(type ?? '');
    if (annotation === undefined || expected === undefined) return [];
    const field = `${at}.securityContext.appArmorProfile`;
    if (expected === LOCALHOST ? !annotation.startsWith(LOCALHOST) : annotation !== expected) {
      return [forbiddenField(`${field}.type`, 'apparmor type in annotation and field must match')];
    }
    if (expected !== LOCALHOST || annotation.slice(LOCALHOST.length) === localhost) return [];
    return [
      forbiddenField(`${field}.localhostProfile`, 'apparmor profile in annotation and field must match'),
    ];
  });
}

/** The types of profiles, and how annotations name them. */
const APP_ARMOR_TYPES = ownKeyMap<string>({
  Localhost: LOCALHOST,
  RuntimeDefault: 'runtime/default',
  Unconfined: 'unconfined',
});
