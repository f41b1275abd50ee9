import type { HostPortRange, PodSecurityPolicySpec } from '../../../../../shared/api/types/policy-v1beta1';
import { invalid } from '../../../../../shared/errors/field-error';
import type { ContainerStrategy, PodStrategy } from '../strategy';

const NAMESPACES = [
  ['hostNetwork', 'Host network is not allowed to be used'],
  ['hostPID', 'Host PID is not allowed to be used'],
  ['hostIPC', 'Host IPC is not allowed to be used'],
] as const;

/** Whether pods may use host namespaces. */
export function hostNamespaceStrategy(policy: PodSecurityPolicySpec): PodStrategy {
  return {
    problems: ({ spec }) =>
      NAMESPACES.flatMap(([field, why]) =>
        spec[field] === true && policy[field] !== true
          ? [invalid(`spec.securityContext.${field}`, true, why)]
          : [],
      ),
  };
}

/** The host ports that containers may use. */
export function hostPortStrategy({ hostPorts = [] }: PodSecurityPolicySpec): ContainerStrategy {
  const isAllowed = (port: number): boolean => hostPorts.some(({ min, max }) => port >= min && port <= max);
  return {
    problems: ({ container: { ports = [] }, path }) =>
      ports
        .filter(({ hostPort = 0 }) => hostPort > 0 && !isAllowed(hostPort))
        .map(({ hostPort }) =>
          invalid(
            `${path}.hostPort`,
            hostPort,
            `Host port ${String(hostPort)} is not allowed to be used. Allowed ports: [${textOf(hostPorts)}]`,
          ),
        ),
  };
}

function textOf(ranges: readonly HostPortRange[]): string {
  return ranges
    .map(({ min, max }) => (min === max ? String(min) : `${String(min)}-${String(max)}`))
    .join(',');
}
