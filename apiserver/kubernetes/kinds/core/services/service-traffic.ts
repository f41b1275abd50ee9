import { isInForce } from '../../../../../shared/api/changes';
import type { ServiceSpec } from '../../../../../shared/api/types/core-v1';
import type { FieldError } from '../../../../../shared/errors/field-error';
import { invalid } from '../../../../../shared/errors/field-error';
import type { KindSettings } from '../../../../engine/registry/strategy';
import { isOn } from '../../field-gates';
import { choice, portNumber, requiredChoice } from '../../rules/primitives';

const POLICY = 'spec.externalTrafficPolicy';
const HEALTH_PORT = 'spec.healthCheckNodePort';

/** How traffic is spread over endpoints. */
export function trafficDistribution(
  { trafficDistribution: distribution }: ServiceSpec,
  settings: KindSettings,
): FieldError[] {
  if (distribution === undefined) return [];
  const more = isOn(settings, 'PreferSameTrafficDistribution') ? ['PreferSameZone', 'PreferSameNode'] : [];
  return choice(distribution, 'spec.trafficDistribution', ['PreferClose', ...more]);
}

/** How traffic from outside the cluster is led, and the port by which balancers check it. */
export function validateOutsideTraffic(spec: ServiceSpec): FieldError[] {
  const { externalTrafficPolicy: policy = '', healthCheckNodePort: healthPort = 0 } = spec;
  if (isInForce('externallyAccessibleServices')) return outsideFields(spec);
  return [
    ...(['', 'Cluster', 'Local'].includes(policy)
      ? []
      : [invalid(POLICY, policy, 'ExternalTrafficPolicy must be empty, Cluster or Local')]),
    ...(healthPort < 0
      ? [invalid(HEALTH_PORT, healthPort, 'HealthCheckNodePort must be not less than 0')]
      : []),
  ];
}

/** Source: validateServiceExternalTrafficPolicy, v1.36. */
function outsideFields(spec: ServiceSpec): FieldError[] {
  const { externalTrafficPolicy: policy = '', healthCheckNodePort: healthPort = 0, type } = spec;
  const isAccessible =
    type === 'LoadBalancer' ||
    type === 'NodePort' ||
    (type === 'ClusterIP' && (spec.externalIPs ?? []).length > 0);
  const isChecked = type === 'LoadBalancer' && policy === 'Local';
  return [
    ...(isAccessible
      ? requiredChoice(policy, POLICY, ['Cluster', 'Local'])
      : policy === ''
        ? []
        : [invalid(POLICY, policy, 'may only be set for externally-accessible services')]),
    ...(healthPort === 0 || isChecked
      ? []
      : [
          invalid(
            HEALTH_PORT,
            healthPort,
            "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'",
          ),
        ]),
    // One that is missing is reserved afterwards.
    ...(isChecked && healthPort !== 0 ? portNumber(healthPort, HEALTH_PORT) : []),
  ];
}
