import type { ServiceSpec } from '../../../../shared/api/types/core-v1';
import type { FieldError } from '../../../../shared/errors/field-error';
import { invalid } from '../../../../shared/errors/field-error';

/**
 * What is wrong with the policy of outside traffic and the port of health checks together with the type. Upstream asks this of what would
 * be stored, when everything else is right and addresses and ports are filled in.
 */
export function externalTraffic(spec: ServiceSpec): FieldError[] {
  const { externalTrafficPolicy: policy = '', healthCheckNodePort: healthPort = 0, type } = spec;
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
