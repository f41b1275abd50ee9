import type { PodSpec } from '../../../../shared/api/types/core-v1';
import type { FieldError } from '../../../../shared/errors/field-error';
import { forbiddenField, invalid, notSupported } from '../../../../shared/errors/field-error';
import type { Quantity } from '../../../../shared/meta/quantity';
import { compareQuantity, formatQuantity } from '../../../../shared/meta/quantity';
import { isPodResource, sumOfContainers } from '../../../../shared/quota/container-sums';
import { forEachItem } from '../rules/primitives';
import { validateClaimNames } from './resource-claims';
import { WINDOWS } from './operating-system';
import { isHugePages, quantityOf, resourceName, validateResourceRequirements } from './resource-requirements';

/** `resources` of a whole pod, and how they fit those of its containers. Source: validatePodResources, v1.36. */
export function validatePodResources(spec: PodSpec, path: string): readonly FieldError[] {
  const { resources, os, containers } = spec;
  if (resources === undefined) return [];
  const at = `${path}.resources`;
  if (os?.name === WINDOWS) return [forbiddenField(at, 'may not be set for a windows pod')];
  const { claims, requests = {}, limits = {} } = resources;
  const sums = sumOfContainers(spec, 'requests');
  const limitSums = sumOfContainers(spec, 'limits');
  return [
    ...(claims === undefined
      ? []
      : [forbiddenField(`${at}.claims`, 'claims may not be set for Resources at pod-level')]),
    ...validateResourceRequirements(resources, at, podResourceName),
    ...validateClaimNames(claims, `${at}.claims`, spec),
    ...[...sums].flatMap(([name, sum]) =>
      coversSum(requests[name], sum, `${at}.requests[${name}]`, 'requests'),
    ),
    ...[...limitSums].flatMap(([name, sum]) =>
      isHugePages(name) ? coversSum(limits[name], sum, `${at}.limits[${name}]`, 'limits') : [],
    ),
    ...forEachItem(containers ?? [], `${at}.containers`, ({ resources: { limits: own = {} } }, place) =>
      Object.entries(own).flatMap(([name, amount]) => {
        const limit = limits[name];
        if (limit === undefined || compareQuantity(quantityOf(amount), quantityOf(limit)) <= 0) return [];
        return [
          invalid(`${place}[${name}].limits`, amount, `must be less than or equal to pod limits of ${limit}`),
        ];
      }),
    ),
  ];
}

function podResourceName(name: string, path: string): readonly FieldError[] {
  const errors = resourceName(name, path);
  if (errors.length > 0 || isPodResource(name)) return errors;
  return [notSupported(path, name, ['cpu', 'hugepages-', 'memory'])];
}

function coversSum(
  amount: string | undefined,
  sum: Quantity,
  path: string,
  part: 'requests' | 'limits',
): readonly FieldError[] {
  if (amount === undefined || compareQuantity(sum, quantityOf(amount)) <= 0) return [];
  const why = `must be greater than or equal to aggregate container ${part} of ${formatQuantity(sum)}`;
  return [invalid(path, amount, why)];
}
