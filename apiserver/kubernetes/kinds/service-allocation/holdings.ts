import { StorageError } from '../../../engine/storage/backend';
import type { Owner } from './claims';
import type { Pool, TakeOutcome, Taken } from './pool';
import { GIVE_BACK_TIMEOUT_MS } from './pool';

/** Dry runs show made-up ports above this number, outside every usual range. */
const DRY_RUN_BEFORE_FIRST_PORT = 32_768;

/** What one attempt to write an object has taken so far. */
export interface Holdings {
  readonly dryRun: boolean;
  readonly take: (pool: Pool, value: string) => Promise<TakeOutcome>;
  readonly takeAny: (pool: Pool) => Promise<TakeOutcome>;
  /** Runs `fill`; when it fails, gives back what it had taken by then. */
  guard<T>(fill: () => Promise<T>): Promise<T>;
  /** Gives back what was taken. */
  readonly release: () => Promise<void>;
  /** Gives back values the owner has no use for since this revision. */
  letGo(values: readonly { readonly pool: Pool; readonly value: string }[], revision: number): Promise<void>;
}

export function openHoldings(
  owner: Owner,
  { dryRun, signal }: { readonly dryRun: boolean; readonly signal: AbortSignal },
): Holdings {
  const taken: Shown[] = [];
  const note = (pool: Pool, outcome: TakeOutcome): TakeOutcome => {
    if (outcome.ok && outcome.taken.isNew) taken.push({ pool, taken: outcome.taken });
    return outcome;
  };
  const release = async (): Promise<void> => {
    if (dryRun) return;
    const until = AbortSignal.timeout(GIVE_BACK_TIMEOUT_MS);
    for (const { pool, taken: each } of taken.splice(0)) {
      await quietly(pool.giveBack(each, owner, until));
    }
  };
  return {
    dryRun,
    release,
    take: async (pool, value) =>
      dryRun ? look(taken, { pool, value }, signal) : note(pool, await pool.take(value, owner, signal)),
    takeAny: async (pool) => (dryRun ? pretend(taken, pool) : note(pool, await pool.takeAny(owner, signal))),
    guard: async (fill) => {
      try {
        return await fill();
      } catch (error) {
        await release();
        throw error;
      }
    },
    letGo: async (values, revision) => {
      if (dryRun) return;
      const until = AbortSignal.timeout(GIVE_BACK_TIMEOUT_MS);
      for (const { pool, value } of values) {
        await quietly(pool.letGo(value, owner, revision, until));
      }
    },
  };
}

interface Shown {
  readonly pool: Pool;
  readonly taken: Taken;
}

async function look(
  shown: Shown[],
  { pool, value }: { readonly pool: Pool; readonly value: string },
  signal: AbortSignal,
): Promise<TakeOutcome> {
  if (pool.range.indexOf(value) === undefined) return { ok: false, why: 'outside' };
  if (await pool.has(value, signal)) return { ok: false, why: 'taken' };
  return show(shown, pool, value);
}

/** The port after the greatest one that this dry run has shown. */
function pretend(shown: Shown[], pool: Pool): TakeOutcome {
  const ports = shown.filter((each) => each.pool === pool).map(({ taken }) => Number(taken.value));
  const last = ports.length === 0 ? DRY_RUN_BEFORE_FIRST_PORT : Math.max(...ports);
  return show(shown, pool, String(last + 1));
}

function show(shown: Shown[], pool: Pool, value: string): TakeOutcome {
  const taken: Taken = { value, revision: 0, isNew: false };
  shown.push({ pool, taken });
  return { ok: true, taken };
}

/** A failed release does not fail the request, because the object was written as requested. Repair releases the value later. */
async function quietly(giveBack: Promise<unknown>): Promise<void> {
  try {
    await giveBack;
  } catch (error) {
    const isOutage =
      error instanceof StorageError || (error instanceof Error && error.name === 'TimeoutError');
    if (!isOutage) throw error;
  }
}
