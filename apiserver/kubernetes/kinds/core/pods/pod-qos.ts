import type { PodSpec, ResourceRequirements } from '../../../../../shared/api/types/core-v1';
import type { Quantity } from '../../../../../shared/meta/quantity';
import { addQuantity, compareQuantity, ZERO_QUANTITY } from '../../../../../shared/meta/quantity';
import { quantityOf } from '../../pod-template/resource-requirements';

const COMPUTE = ['cpu', 'memory'];

/**
 * The quality of service class of the containers' resources: `Guaranteed` if each of them limits cpu and memory and requests
 * as much, `BestEffort` if none names either, else `Burstable`.
 */
export function qosClassOf({
  containers,
  initContainers = [],
}: PodSpec): 'Guaranteed' | 'Burstable' | 'BestEffort' {
  const resources = [...(containers ?? []), ...initContainers].map((container) => container.resources);
  const requests = sumOf(resources, 'requests');
  const limits = sumOf(resources, 'limits');
  if (requests.size === 0 && limits.size === 0) return 'BestEffort';
  const isLimited = resources.every((each) => COMPUTE.every((name) => isPositive(each.limits?.[name])));
  if (!isLimited || requests.size !== limits.size) return 'Burstable';
  const isCovered = [...requests].every(([name, sum]) => {
    const limit = limits.get(name);
    return limit !== undefined && compareQuantity(limit, sum) === 0;
  });
  return isCovered ? 'Guaranteed' : 'Burstable';
}

function sumOf(
  resources: readonly ResourceRequirements[],
  part: 'limits' | 'requests',
): ReadonlyMap<string, Quantity> {
  const sums = new Map<string, Quantity>();
  for (const each of resources) {
    const amounts = each[part];
    if (amounts === undefined) continue;
    for (const name of COMPUTE) {
      if (!isPositive(amounts[name])) continue;
      sums.set(name, addQuantity(sums.get(name) ?? ZERO_QUANTITY, quantityOf(amounts[name])));
    }
  }
  return sums;
}

function isPositive(amount: string | undefined): boolean {
  return amount !== undefined && compareQuantity(quantityOf(amount), ZERO_QUANTITY) > 0;
}
