import type { SELinuxOptions } from '../../../../../shared/api/types/core-v1';
import type { SELinuxStrategyOptions } from '../../../../../shared/api/types/policy-v1beta1';
import type { FieldError } from '../../../../../shared/errors/field-error';
import { invalid, required } from '../../../../../shared/errors/field-error';
import type { ContainerStrategy, PodStrategy } from '../strategy';
import { ANYTHING, NOTHING } from '../strategy';
import { withPodContext } from '../pod-context';

export interface SeLinuxStrategies {
  readonly ofPod: PodStrategy;
  readonly ofContainer: ContainerStrategy;
}

/** The SELinux context of the pod and its containers; undefined for incomplete options. */
export function seLinuxStrategies({
  rule,
  seLinuxOptions: wanted,
}: SELinuxStrategyOptions): SeLinuxStrategies | undefined {
  if (rule === 'RunAsAny') return { ofPod: ANYTHING, ofContainer: ANYTHING };
  if (rule !== 'MustRunAs' || wanted === undefined) return undefined;
  return {
    ofPod: {
      fill: (pod) =>
        pod.spec.securityContext?.seLinuxOptions === undefined
          ? withPodContext(pod, { seLinuxOptions: wanted })
          : pod,
      problems: ({ spec }) => differences(spec.securityContext?.seLinuxOptions, wanted, 'spec'),
    },
    ofContainer: {
      fill: ({ seLinuxOptions }) => (seLinuxOptions === undefined ? { seLinuxOptions: wanted } : NOTHING),
      problems: ({ effective, path }) => differences(effective.seLinuxOptions, wanted, path),
    },
  };
}

const FIELDS = ['level', 'role', 'type', 'user'] as const;

function differences(
  given: SELinuxOptions | undefined,
  wanted: SELinuxOptions,
  path: string,
): readonly FieldError[] {
  const at = `${path}.securityContext.seLinuxOptions`;
  if (given === undefined) return [required(at)];
  return FIELDS.flatMap((field) => {
    const is = given[field] ?? '';
    const should = wanted[field] ?? '';
    const isSame = is === should || (field === 'level' && isSameLevel(is, should));
    return isSame ? [] : [invalid(`${at}.${field}`, is, `must be ${should}`)];
  });
}

/** The order of categories does not matter: `s0:c6,c0` equals `s0:c0,c6`. */
function isSameLevel(a: string, b: string): boolean {
  const one = partsOf(a);
  const other = partsOf(b);
  return one !== undefined && one === other;
}

function partsOf(level: string): string | undefined {
  const colon = level.indexOf(':');
  if (colon < 0) return undefined;
  const categories = level.slice(colon + 1).split(',');
  return `${level.slice(0, colon)}:${categories.sort().join(',')}`;
}
