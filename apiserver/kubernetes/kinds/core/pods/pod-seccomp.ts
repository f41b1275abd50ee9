import type {
  AppArmorProfile,
  Container,
  Pod,
  PodSecurityContext,
  SeccompProfile,
  SecurityContext,
} from '../../../../../shared/api/types/core-v1';
import { ANNOTATION } from '../../../../../shared/names';
import { deepEqual } from '../../../../../shared/object/clone';

const LOCALHOST = 'localhost/';

/**
 * A new pod says its seccomp profiles twice, in fields and in the annotations that were their old home: what one of them lacks it
 * gets from the other. Where both are there and differ, validation tells.
 */
export function withSeccompTwins(pod: Pod): Pod {
  const annotations = { ...pod.metadata.annotations };
  const known = Object.keys(annotations).length;
  const { spec } = pod;
  const { initContainers, containers, ephemeralContainers } = spec;
  const security = withProfile<PodSecurityContext>(spec.securityContext, annotations, ANNOTATION.seccompPod);
  const twins = <T extends Container>(container: T): T => withContainerProfile(container, annotations);
  const kept = {
    ...spec,
    ...(security === undefined ? {} : { securityContext: security }),
    ...(initContainers === undefined ? {} : { initContainers: initContainers.map(twins) }),
    containers: (containers ?? []).map(twins),
    ...(ephemeralContainers === undefined ? {} : { ephemeralContainers: ephemeralContainers.map(twins) }),
  };
  return {
    ...pod,
    // The containers have added theirs by now.
    ...(Object.keys(annotations).length === known ? {} : { metadata: { ...pod.metadata, annotations } }),
    spec: kept,
  };
}

/** The profile in the words of the annotation; undefined for one that cannot be said so. */
export function seccompAnnotationOf({
  type,
  localhostProfile: localhost,
}: SeccompProfile): string | undefined {
  switch (type) {
    case 'Unconfined':
      return 'unconfined';
    case 'RuntimeDefault':
      return 'runtime/default';
    case 'Localhost':
      return localhost === undefined ? undefined : `${LOCALHOST}${localhost}`;
    default:
      return undefined;
  }
}

function withContainerProfile<T extends Container>(container: T, annotations: Record<string, string>): T {
  const key = `${ANNOTATION.seccompContainerPrefix}${container.name}`;
  const context = withProfile<SecurityContext>(container.securityContext, annotations, key);
  return context === undefined ? container : { ...container, securityContext: context };
}

/** The security context with the profile of the annotation; or the annotation is added to `annotations`. */
function withProfile<Context extends { readonly seccompProfile?: SeccompProfile }>(
  context: Context | undefined,
  annotations: Record<string, string>,
  key: string,
): Context | { readonly seccompProfile: SeccompProfile } | undefined {
  const profile = context?.seccompProfile;
  const annotation = annotations[key];
  if (profile !== undefined && annotation === undefined) {
    const given = seccompAnnotationOf(profile);
    if (given !== undefined) annotations[key] = given;
    return context;
  }
  if (profile !== undefined || annotation === undefined) return context;
  const meant = profileOf(annotation);
  return meant === undefined ? context : { ...context, seccompProfile: meant };
}

function profileOf(annotation: string): SeccompProfile | undefined {
  if (annotation === 'unconfined') return { type: 'Unconfined' };
  if (annotation === 'runtime/default' || annotation === 'docker/default') return { type: 'RuntimeDefault' };
  const localhost = annotation.startsWith(LOCALHOST) ? annotation.slice(LOCALHOST.length) : '';
  return localhost === '' ? undefined : { type: 'Localhost', localhostProfile: localhost };
}

/**
 * A new pod with the AppArmor profiles of its annotations in the fields of containers that have none, unless the pod has the same. Source:
 * applyAppArmorVersionSkew, v1.36.
 */
export function withAppArmorFields(pod: Pod): Pod {
  const { annotations = {} } = pod.metadata;
  const { spec } = pod;
  const isConcerned =
    spec.os?.name !== 'windows' &&
    Object.keys(annotations).some((key) => key.startsWith(ANNOTATION.appArmorContainerPrefix));
  if (!isConcerned) return pod;
  const ofPod = spec.securityContext?.appArmorProfile;
  const withField = <T extends Container>(container: T): T => {
    const annotation = annotations[`${ANNOTATION.appArmorContainerPrefix}${container.name}`];
    const { securityContext } = container;
    if (annotation === undefined || securityContext?.appArmorProfile !== undefined) return container;
    const profile = appArmorProfileOf(annotation);
    if (profile === undefined || deepEqual(profile, ofPod)) return container;
    return { ...container, securityContext: { ...securityContext, appArmorProfile: profile } };
  };
  const { initContainers, containers, ephemeralContainers } = spec;
  return {
    ...pod,
    spec: {
      ...spec,
      ...(initContainers === undefined ? {} : { initContainers: initContainers.map(withField) }),
      containers: (containers ?? []).map(withField),
      ...(ephemeralContainers === undefined
        ? {}
        : { ephemeralContainers: ephemeralContainers.map(withField) }),
    },
  };
}

/** The profile that the annotation names; undefined for one that no field can name. */
export function appArmorProfileOf(annotation: string): AppArmorProfile | undefined {
  if (annotation === 'unconfined') return { type: 'Unconfined' };
  if (annotation === 'runtime/default') return { type: 'RuntimeDefault' };
  const name = annotation.startsWith(LOCALHOST) ? annotation.slice(LOCALHOST.length) : '';
  return name === '' || name.trim() !== name ? undefined : { type: 'Localhost', localhostProfile: name };
}
