import type {
  Container,
  Pod,
  PodSecurityContext,
  SeccompProfile,
  SecurityContext,
} from '../../../../../shared/api/types/core-v1';
import { ANNOTATION } from '../../../../../shared/names';

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
