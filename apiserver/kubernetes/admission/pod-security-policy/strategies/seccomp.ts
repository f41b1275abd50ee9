import type { Container, Pod } from '../../../../../shared/api/types/core-v1';
import type { PodSecurityPolicy } from '../../../../../shared/api/types/policy-v1beta1';
import type { FieldError } from '../../../../../shared/errors/field-error';
import { forbiddenField } from '../../../../../shared/errors/field-error';
import { ANNOTATION } from '../../../../../shared/names';
import { seccompAnnotationOf } from '../../../kinds/core/pods/pod-seccomp';
import { withAnnotations } from '../pod-context';
import type { ContainerStrategy, PodStrategy } from '../strategy';

export interface SeccompStrategies {
  readonly ofPod: PodStrategy;
  readonly ofContainer: ContainerStrategy;
}

const ANY = '*';
/** Two names of one profile: a policy that allows one allows both. */
const RUNTIME_DEFAULT = ['runtime/default', 'docker/default'];

/** Seccomp profiles: in annotations of policies, in annotations or fields of pods. */
export function seccompStrategies({ metadata: { annotations = {} } }: PodSecurityPolicy): SeccompStrategies {
  const fallback = annotations[ANNOTATION.seccompDefaultProfile] ?? '';
  const listed = annotations[ANNOTATION.seccompAllowedProfiles];
  const words = listed === undefined ? [] : listed.split(',');
  const allowsAny = words.includes(ANY);
  const named = words.filter((word) => word !== ANY);
  const allowed = new Set(
    named.flatMap((word) => (RUNTIME_DEFAULT.includes(word) ? [...RUNTIME_DEFAULT] : [word])),
  );
  const problems = (profile: string, key: string): readonly FieldError[] => {
    const at = `pod.metadata.annotations[${key}]`;
    const namesNone = allowed.size === 0;
    if (allowsAny || (namesNone && profile === '') || allowed.has(profile)) return [];
    if (namesNone) return [forbiddenField(at, 'seccomp may not be set')];
    const what = `${profile} is not an allowed seccomp profile. Valid values are ${listed ?? ''}`;
    return [forbiddenField(at, what)];
  };
  return {
    ofPod: {
      fill(pod) {
        const own = profileOfPod(pod);
        const filled = own === undefined ? fallback : own;
        return filled === '' || pod.metadata.annotations?.[ANNOTATION.seccompPod] === filled
          ? pod
          : withAnnotations(pod, { [ANNOTATION.seccompPod]: filled });
      },
      problems: (pod) => problems(profileOfPod(pod) ?? '', ANNOTATION.seccompPod),
    },
    ofContainer: {
      problems: ({ pod, container }) =>
        problems(profileOfContainer(pod, container), `${ANNOTATION.seccompContainerPrefix}${container.name}`),
    },
  };
}

/** Returns the profile in the annotation's notation; empty if a field cannot be written so, undefined without one. */
function profileOfPod({ metadata: { annotations = {} }, spec }: Pod): string | undefined {
  const annotation = annotations[ANNOTATION.seccompPod] ?? '';
  if (annotation !== '') return annotation;
  const field = spec.securityContext?.seccompProfile;
  return field && (seccompAnnotationOf(field) ?? '');
}

function profileOfContainer(pod: Pod, { name, securityContext }: Container): string {
  const { annotations = {} } = pod.metadata;
  const own = securityContext?.seccompProfile;
  if (own !== undefined) return seccompAnnotationOf(own) ?? '';
  const annotation = annotations[`${ANNOTATION.seccompContainerPrefix}${name}`];
  if (annotation !== undefined) return annotation;
  const ofPod = pod.spec.securityContext?.seccompProfile;
  if (ofPod !== undefined) return seccompAnnotationOf(ofPod) ?? '';
  return annotations[ANNOTATION.seccompPod] ?? '';
}
