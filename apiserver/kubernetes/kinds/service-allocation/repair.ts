import type { Log } from '../../../../shared/log/log';
import type { Claim, Claims, Owner } from './claims';

/** One object and the values of one range that it holds. */
export interface Holder extends Owner {
  readonly values: readonly string[];
}

export interface RepairedRange {
  /** For logs: `clusterip`. */
  readonly name: string;
  /** Whether the range has a value. */
  readonly contains: (value: string) => boolean;
  readonly claims: Claims;
}

/** What one round found and did. */
export interface RepairReport {
  /** Leaked claims that were removed. */
  readonly freed: number;
  /** Claims without an object that wait for the next round: their object may be written soon. */
  readonly suspected: number;
  /** Values in use without a claim, or with a void one, that were claimed for their user. */
  readonly claimed: number;
  /** Values that two objects use: only people can decide which one keeps it. */
  readonly duplicates: number;
  /** Values in use outside the range. */
  readonly outside: number;
}

/**
 * Compares the claims of one range with the objects that use its values. The interval between rounds must exceed the longest write: a
 * claim without a user is removed only when the round before had found the very same claim without one.
 */
export class RangeRepair {
  readonly #range: RepairedRange;
  readonly #log: Log;
  /** Claims without a user, by value, with their revision. */
  #suspects: ReadonlyMap<string, number> = new Map();

  constructor(range: RepairedRange, log: Log) {
    this.#range = range;
    this.#log = log;
  }

  /** `holdersAt` gives all users of the range, as of the given revision or a later one. */
  async run(
    holdersAt: (revision: number, signal: AbortSignal) => Promise<readonly Holder[]>,
    signal: AbortSignal,
  ): Promise<RepairReport> {
    const claims: Claim[] = [];
    let newest = 0;
    for await (const page of this.#range.claims.pages(signal)) {
      claims.push(...page.claims);
      newest = Math.max(newest, page.revision);
    }
    const holders = await holdersAt(newest, signal);
    const byUid = new Map(holders.map((holder) => [holder.uid, holder]));
    const isUsed = ({ owner, value }: Claim): boolean =>
      byUid.get(owner.uid)?.values.includes(value) === true;
    const unused = claims.filter((claim) => !isUsed(claim));
    const usage = await this.#repairUsage(holders, { claims, isUsed }, signal);
    const freed = await this.#free(unused, signal);
    return { ...usage, freed, suspected: this.#suspects.size };
  }

  async #repairUsage(
    holders: readonly Holder[],
    { claims, isUsed }: { readonly claims: readonly Claim[]; readonly isUsed: (claim: Claim) => boolean },
    signal: AbortSignal,
  ): Promise<Pick<RepairReport, 'claimed' | 'duplicates' | 'outside'>> {
    const byValue = new Map(claims.map((claim) => [claim.value, claim]));
    const report = { claimed: 0, duplicates: 0, outside: 0 };
    for (const holder of holders) {
      for (const value of holder.values) {
        if (!this.#range.contains(value)) {
          report.outside += 1;
          this.#warn(holder, value, 'allocated value is out of range; recreate the Service to get another');
          continue;
        }
        const claim = byValue.get(value);
        if (claim?.owner.uid === holder.uid) continue;
        if (claim !== undefined && isUsed(claim)) {
          report.duplicates += 1;
          this.#warn(
            holder,
            value,
            `allocated value is also used by ${nameOf(claim.owner)}; recreate one of the two`,
          );
        } else if (await this.#claimFor(holder, { value, claim }, signal)) {
          report.claimed += 1;
          this.#warn(
            holder,
            value,
            'value in use was not allocated; it is now allocated to the Service that uses it',
          );
        }
      }
    }
    return report;
  }

  async #claimFor(
    { namespace, name, uid }: Holder,
    { value, claim }: { readonly value: string; readonly claim: Claim | undefined },
    signal: AbortSignal,
  ): Promise<boolean> {
    const owner = { namespace, name, uid };
    if (claim !== undefined) return this.#range.claims.takeOver(claim, owner, signal);
    const outcome = await this.#range.claims.claim(value, owner, { adopts: false }, signal);
    return outcome.ok;
  }

  async #free(unused: readonly Claim[], signal: AbortSignal): Promise<number> {
    const before = this.#suspects;
    const suspects = new Map<string, number>();
    let freed = 0;
    for (const claim of unused) {
      if (before.get(claim.value) !== claim.revision) {
        suspects.set(claim.value, claim.revision);
      } else if (await this.#range.claims.release(claim.value, claim.revision, signal)) {
        freed += 1;
        this.#warn(
          claim.owner,
          claim.value,
          'leaked allocation released: the Service does not use the value',
        );
      }
    }
    this.#suspects = suspects;
    return freed;
  }

  #warn(owner: Owner, value: string, message: string): void {
    this.#log.warn({ range: this.#range.name, value, service: nameOf(owner) }, message);
  }
}

function nameOf({ namespace, name }: Owner): string {
  return `${namespace}/${name}`;
}
