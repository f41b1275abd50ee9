import { sleep } from '../../../../shared/concurrency/abort';
import { conflict } from '../../../../shared/errors/status-error';
import type { RandomInt } from '../../../../shared/meta/generate-name';
import type { Amounts } from '../../../../shared/quota/amounts';
import { NOTHING, addAmounts } from '../../../../shared/quota/amounts';
import { RESOURCE_QUOTAS } from '../../cluster/resources';
import type { LimitedResource } from './configuration';
import type { Account, Charge } from './quota-evaluation';
import { accountOf, evaluate } from './quota-evaluation';
import type { QuotaRecords, WrittenQuota } from './quota-records';

/** Number of lost races after which a batch fails. */
export const TRIES_MAX = 50;
/** Number of immediate retries: the record it lost to is fresh, and waiting makes it stale. */
const QUICK_TRIES = 16;
/** Upper bound of the wait after each further lost race, in milliseconds. */
const RETRY_MS_MAX = 32;

/** A write to evaluate. */
export interface ChargedWrite {
  readonly charge: Omit<Charge, 'paid'>;
  /** Charges by the quota's uid; kept up to date, also when the write is refused in the end. */
  readonly paid: Map<string, Amounts>;
  readonly dryRun: boolean;
}

/** The reason of a refusal; undefined for an admitted and charged write. */
export type Refusal = string | undefined;

/** A write that waits for its evaluation until its signal aborts. */
export interface Waiter {
  readonly write: ChargedWrite;
  readonly signal: AbortSignal;
  readonly settle: (refusal: Refusal) => void;
  readonly fail: (error: unknown) => void;
}

export interface BatchParts {
  readonly records: QuotaRecords;
  readonly limited: readonly LimitedResource[];
  readonly randomInt: RandomInt;
}

/** A write that is admitted once it is charged. */
interface Debtor {
  readonly waiter: Waiter;
  /** By the quota's uid. */
  readonly owed: ReadonlyMap<string, Amounts>;
}

type Outcomes = ReadonlyMap<string, WrittenQuota>;

/**
 * Evaluates writes one after the other by the remaining quotas, then writes every quota once by compare-and-swap. After a lost race they
 * are evaluated again by the winning record. Settles the whole batch, or throws for the rest: Conflict (409) after {@link TRIES_MAX} lost
 * races, ServiceUnavailable (503), or the store's error.
 */
export async function chargeBatch(
  parts: BatchParts,
  { namespace, batch }: { readonly namespace: string; readonly batch: readonly Waiter[] },
  signal: AbortSignal,
): Promise<void> {
  let accounts = parts.records.ofNamespace(namespace).map(accountOf);
  let pending = batch;
  for (let tries = 1; ; tries += 1) {
    const { after, debtors } = evaluateAll(parts, accounts, pending);
    const changed = after.filter(({ used }, index) => used !== accounts[index]?.used);
    const outcomes = await writeAll(parts, changed, signal);
    pending = debtors.filter((debtor) => !isPaid(debtor, outcomes)).map(({ waiter }) => waiter);
    if (pending.length === 0) return;
    if (tries >= TRIES_MAX) throw lostEveryRace(changed, outcomes);
    accounts = accounts.flatMap((account) => accountAfter(account, outcomes.get(account.uid)));
    if (tries > QUICK_TRIES) await sleep(parts.randomInt(RETRY_MS_MAX), signal);
  }
}

/** Settles the writes without charges. */
function evaluateAll(
  { limited }: BatchParts,
  accounts: readonly Account[],
  waiters: readonly Waiter[],
): { readonly after: readonly Account[]; readonly debtors: readonly Debtor[] } {
  let after = accounts;
  const debtors: Debtor[] = [];
  for (const waiter of waiters) {
    const { write, signal, settle } = waiter;
    if (signal.aborted) continue;
    const { refused, charges: owed } = evaluate({ ...write.charge, paid: write.paid }, after, limited);
    if (owed === undefined || owed.size === 0 || write.dryRun) {
      settle(refused);
      continue;
    }
    after = after.map((account) => charged(account, owed.get(account.uid)));
    debtors.push({ waiter, owed });
  }
  return { after, debtors };
}

function charged(account: Account, amounts: Amounts | undefined): Account {
  return amounts === undefined ? account : { ...account, used: addAmounts(account.used, amounts) };
}

async function writeAll(
  { records }: BatchParts,
  accounts: readonly Account[],
  signal: AbortSignal,
): Promise<Outcomes> {
  const outcomes = accounts.map(
    async ({ uid, quota, used }) => [uid, await records.writeUsed(quota, used, signal)] as const,
  );
  return new Map(await Promise.all(outcomes));
}

/** Records a charge, and settles a write without open charges. */
function isPaid({ waiter, owed }: Debtor, outcomes: Outcomes): boolean {
  const { paid } = waiter.write;
  const open = [...owed].filter(([uid, amounts]) => {
    if (outcomes.get(uid)?.isWritten !== true) return true;
    paid.set(uid, addAmounts(paid.get(uid) ?? NOTHING, amounts));
    return false;
  });
  if (open.length === 0) waiter.settle(undefined);
  return open.length === 0;
}

/** A deleted quota limits nothing. */
function accountAfter(account: Account, outcome: WrittenQuota | undefined): readonly Account[] {
  if (outcome === undefined) return [account];
  return outcome.quota === undefined ? [] : [accountOf(outcome.quota)];
}

function lostEveryRace(changed: readonly Account[], outcomes: Outcomes): Error {
  const lost = changed.find(({ uid }) => outcomes.get(uid)?.isWritten !== true);
  return conflict(
    RESOURCE_QUOTAS,
    lost?.name ?? '',
    'the object has been modified; please apply your changes to the latest version and try again',
  );
}
