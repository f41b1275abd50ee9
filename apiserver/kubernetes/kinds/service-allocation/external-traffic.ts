import { isInForce } from '../../../../shared/api/changes';
import type { ServiceSpec } from '../../../../shared/api/types/core-v1';
import type { FieldError } from '../../../../shared/errors/field-error';
import { invalid } from '../../../../shared/errors/field-error';
import { portNumber, requiredChoice } from '../rules/primitives';

/**
 * What is wrong with the policy of outside traffic and the port of health checks together with the type. Upstream asks this of what would
 * be stored, when everything else is right and addresses and ports are filled in.
 */
export function externalTraffic(spec: ServiceSpec): FieldError[] {
  const { externalTrafficPolicy: policy = '', healthCheckNodePort: healthPort = 0, type } = spec;
  if (isInForce('externallyAccessibleServices')) return accessibleTraffic(spec);
  return [
    ...(policy !== '' && type !== 'LoadBalancer' && type !== 'NodePort'
      ? [
          invalid(
            'spec.externalTrafficPolicy',
            policy,
            'ExternalTrafficPolicy can only be set on NodePort and LoadBalancer service',
          ),
        ]
      : []),
    ...(healthPort !== 0 && !(type === 'LoadBalancer' && policy === 'Local')
      ? [
          invalid(
            'spec.healthCheckNodePort',
            healthPort,
            'HealthCheckNodePort can only be set on LoadBalancer service with ExternalTrafficPolicy=Local',
          ),
        ]
      : []),
  ];
}

/** The policy belongs to services that are reachable from outside, by their type or by external IPs. */
function accessibleTraffic(spec: ServiceSpec): FieldError[] {
  const { externalTrafficPolicy: policy = '', healthCheckNodePort: healthPort = 0, type } = spec;
  const path = 'spec.externalTrafficPolicy';
  const isChecked = type === 'LoadBalancer' && policy === 'Local';
  return [
    ...(isAccessible(spec)
      ? requiredChoice(policy, path, ['Cluster', 'Local'])
      : policy === ''
        ? []
        : [invalid(path, policy, 'may only be set for externally-accessible services')]),
    ...(healthPort !== 0 && !isChecked
      ? [
          invalid(
            'spec.healthCheckNodePort',
            healthPort,
            "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'",
          ),
        ]
      : []),
    ...(isChecked && healthPort !== 0 ? portNumber(healthPort, 'spec.healthCheckNodePort') : []),
  ];
}

function isAccessible({ type, externalIPs: ips = [] }: ServiceSpec): boolean {
  return type === 'LoadBalancer' || type === 'NodePort' || (type === 'ClusterIP' && ips.length > 0);
}
