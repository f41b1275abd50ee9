import type { PodSecurityPolicy } from '../../../../../shared/api/types/policy-v1beta1';
import { forbiddenField } from '../../../../../shared/errors/field-error';
import { goQuote } from '../../../../../shared/errors/go-quote';
import { ANNOTATION } from '../../../../../shared/names';
import { containersOf, withAnnotations } from '../pod-context';
import type { ContainerStrategy, PodStrategy } from '../strategy';

export interface AppArmorStrategies {
  readonly ofPod: PodStrategy;
  readonly ofContainer: ContainerStrategy;
}

/** AppArmor profiles, in annotations of the policy and of the pod. */
export function appArmorStrategies({
  metadata: { annotations = {} },
}: PodSecurityPolicy): AppArmorStrategies {
  const fallback = annotations[ANNOTATION.appArmorDefaultProfile] ?? '';
  const listed = annotations[ANNOTATION.appArmorAllowedProfiles];
  const allowed = listed === undefined ? undefined : new Set(listed.split(','));
  return {
    ofPod: {
      fill(pod) {
        const own = pod.metadata.annotations ?? {};
        const open = containersOf(pod)
          .map(({ container: { name } }) => `${ANNOTATION.appArmorContainerPrefix}${name}`)
          .filter((key) => (own[key] ?? '') === '');
        if (fallback === '' || open.length === 0) return pod;
        return withAnnotations(pod, Object.fromEntries(open.map((key) => [key, fallback])));
      },
    },
    ofContainer: {
      problems({ pod, container }) {
        if (allowed === undefined) return [];
        const key = `${ANNOTATION.appArmorContainerPrefix}${container.name}`;
        const profile = pod.metadata.annotations?.[key] ?? '';
        const at = `pod.metadata.annotations[${key}]`;
        if (profile === '') return [forbiddenField(at, 'AppArmor profile must be set')];
        if (allowed.has(profile)) return [];
        const what = `${profile} is not an allowed profile. Allowed values: ${goQuote(listed ?? '')}`;
        return [forbiddenField(at, what)];
      },
    },
  };
}
