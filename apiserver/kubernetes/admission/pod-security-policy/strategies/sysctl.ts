import type { PodSecurityPolicySpec } from '../../../../../shared/api/types/policy-v1beta1';
import { forbiddenField, validateUntilLimit } from '../../../../../shared/errors/field-error';
import type { PodStrategy } from '../strategy';

/** These are namespaced: they affect no other pod of the node. */
export const SAFE_SYSCTLS: readonly string[] = [
  'kernel.shm_rmid_forced',
  'net.ipv4.ip_local_port_range',
  'net.ipv4.tcp_syncookies',
  'net.ipv4.ping_group_range',
];

/** The kernel parameters that a pod may set. */
export function sysctlStrategy({
  allowedUnsafeSysctls: allowed = [],
  forbiddenSysctls: forbidden = [],
}: PodSecurityPolicySpec): PodStrategy {
  return {
    problems: ({ spec: { securityContext: { sysctls = [] } = {} } }) =>
      validateUntilLimit(sysctls, ({ name }, index) => {
        const at = `pod.spec.securityContext.sysctls[${String(index)}]`;
        if (matchesSome(name, forbidden)) return [forbiddenField(at, `sysctl "${name}" is not allowed`)];
        if (SAFE_SYSCTLS.includes(name) || matchesSome(name, allowed)) return [];
        return [forbiddenField(at, `unsafe sysctl "${name}" is not allowed`)];
      }),
  };
}

/** A pattern is a name, or a prefix followed by `*`. */
function matchesSome(name: string, patterns: readonly string[]): boolean {
  return patterns.some((pattern) =>
    pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern,
  );
}
