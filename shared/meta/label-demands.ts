import type { LabelRequirement } from './label-requirement';
import { matchesRequirement } from './label-requirement';

type Labels = Readonly<Record<string, string>>;

/** All requirements of a selector on one label. */
interface Demand {
  mustExist: boolean;
  mustNotExist: boolean;
  /** Undefined allows any value. */
  allowed: ReadonlySet<string> | undefined;
  readonly forbidden: Set<string>;
  /** The narrowest lower and upper bounds. */
  above: LabelRequirement | undefined;
  below: LabelRequirement | undefined;
}

/**
 * A selector with its requirements grouped by label, so that matching takes time linear in the labels of an
 * object instead of the requirements.
 */
export class LabelDemands {
  readonly #demands = new Map<string, Demand>();
  /** Labels that an object must have. */
  readonly #needed: readonly string[];

  constructor(requirements: readonly LabelRequirement[]) {
    for (const requirement of requirements) add(this.#demandOf(requirement.key), requirement);
    this.#needed = [...this.#demands].filter(([, { mustExist }]) => mustExist).map(([key]) => key);
  }

  matches(labels: Labels = {}): boolean {
    // Checks required labels first, since a missing one decides.
    for (const key of this.#needed) if (!Object.hasOwn(labels, key)) return false;
    for (const key in labels) {
      const demand = Object.hasOwn(labels, key) ? this.#demands.get(key) : undefined;
      if (demand !== undefined && !meetsDemand(demand, labels[key] ?? '')) return false;
    }
    return true;
  }

  #demandOf(key: string): Demand {
    const known = this.#demands.get(key);
    if (known !== undefined) return known;
    const demand: Demand = {
      mustExist: false,
      mustNotExist: false,
      allowed: undefined,
      forbidden: new Set(),
      above: undefined,
      below: undefined,
    };
    this.#demands.set(key, demand);
    return demand;
  }
}

function add(demand: Demand, requirement: LabelRequirement): void {
  const { operator, values } = requirement;
  if (operator === '!') demand.mustNotExist = true;
  else if (operator === '!=' || operator === 'notin') for (const value of values) demand.forbidden.add(value);
  else {
    demand.mustExist = true;
    if (operator === 'gt') demand.above = narrower(demand.above, requirement);
    else if (operator === 'lt') demand.below = narrower(demand.below, requirement);
    else if (operator !== 'exists') demand.allowed = inBoth(demand.allowed, values);
  }
}

/** Returns the narrower of two bounds of one kind: the other bound holds for its value. */
function narrower(known: LabelRequirement | undefined, other: LabelRequirement): LabelRequirement {
  const [bound] = other.values;
  return known === undefined || matchesRequirement(known, bound) ? other : known;
}

function inBoth(a: ReadonlySet<string> | undefined, b: ReadonlySet<string>): ReadonlySet<string> {
  if (a === undefined) return b;
  const [few, many] = a.size < b.size ? [a, b] : [b, a];
  return new Set([...few].filter((value) => many.has(value)));
}

function meetsDemand({ mustNotExist, allowed, forbidden, above, below }: Demand, value: string): boolean {
  if (mustNotExist || forbidden.has(value) || allowed?.has(value) === false) return false;
  return (
    (above === undefined || matchesRequirement(above, value)) &&
    (below === undefined || matchesRequirement(below, value))
  );
}
