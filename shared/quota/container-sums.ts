import type { PodSpec } from '../api/types/core-v1';
import type { Quantity } from '../meta/quantity';
import { addQuantity, compareQuantity, parseQuantity, ZERO_QUANTITY } from '../meta/quantity';

const HUGE_PAGES = 'hugepages-';

/** Whether a resource can be given to a pod as a whole. */
export function isPodResource(name: string): boolean {
  return name === 'cpu' || name === 'memory' || name.startsWith(HUGE_PAGES);
}

/**
 * What the containers of a pod request, or may use, at most at one time: all containers with all sidecars, or an init container with the
 * sidecars before it.
 */
export function sumOfContainers(
  { containers, initContainers = [] }: PodSpec,
  part: 'requests' | 'limits',
): ReadonlyMap<string, Quantity> {
  const running = new Map<string, Quantity>();
  for (const { resources } of containers ?? []) add(running, resources[part]);
  const sidecars = new Map<string, Quantity>();
  const starting = new Map<string, Quantity>();
  for (const container of initContainers) {
    const amounts = container.resources[part];
    if (container.restartPolicy === 'Always') {
      add(running, amounts);
      add(sidecars, amounts);
      raise(starting, sidecars);
    } else {
      const together = new Map(sidecars);
      add(together, amounts);
      raise(starting, together);
    }
  }
  raise(running, starting);
  return running;
}

function add(sums: Map<string, Quantity>, amounts: Readonly<Record<string, string>> = {}): void {
  for (const [name, amount] of Object.entries(amounts)) {
    const sum = sums.get(name);
    const quantity = parseQuantity(amount) ?? ZERO_QUANTITY;
    sums.set(name, sum === undefined ? quantity : addQuantity(sum, quantity));
  }
}

function raise(sums: Map<string, Quantity>, to: ReadonlyMap<string, Quantity>): void {
  for (const [name, amount] of to) {
    const sum = sums.get(name);
    if (sum === undefined || compareQuantity(sum, amount) < 0) sums.set(name, amount);
  }
}
