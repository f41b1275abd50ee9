import type { ResourceQuota } from '../../../../shared/api/types/core-v1';
import type { ApiObject } from '../../../../shared/object/object';
import type { Amounts } from '../../../../shared/quota/amounts';
import {
  NOTHING,
  parseAmounts,
  formatAmounts,
  findExceeded,
  formatListedAmounts,
  subtractAmounts,
  pickAmounts,
  addAmounts,
  sortedNames,
  withoutZeros,
} from '../../../../shared/quota/amounts';
import type { Evaluator, Measured } from '../../../../shared/quota/measure';
import { computeUsageAt } from '../../../../shared/quota/measure';
import type { ScopeRequirement } from '../../../../shared/quota/scopes';
import { matchesScope, getScopes } from '../../../../shared/quota/scopes';
import type { LimitedResource } from './configuration';

/** A write as quotas see it. */
export interface Charge {
  readonly evaluator: Evaluator;
  readonly object: ApiObject;
  readonly measured: Measured;
  /** The usage of the whole object. */
  readonly whole: Amounts;
  /** The additional usage. */
  readonly added: Amounts;
  /** The object before an update. */
  readonly previous: Measured | undefined;
  /** What was already charged for this write, by the quota's uid. */
  readonly paid: ReadonlyMap<string, Amounts>;
}

/** A quota with its usage at this point of the calculation. */
export interface Account {
  readonly quota: ResourceQuota;
  readonly uid: string;
  readonly name: string;
  readonly scopes: readonly ScopeRequirement[];
  readonly hard: Amounts;
  readonly used: Amounts;
}

/** The reason of a refusal, or the charges by the quota's uid; empty if no quota matches. */
export type Evaluation =
  | { readonly refused: string; readonly charges?: never }
  | { readonly refused?: never; readonly charges: ReadonlyMap<string, Amounts> };

/** A quota without a status limits nothing yet. */
export function accountOf(quota: ResourceQuota): Account {
  const { hard, used } = quota.status ?? {};
  return {
    quota,
    uid: quota.metadata.uid ?? '',
    name: quota.metadata.name ?? '',
    scopes: getScopes(quota),
    hard: parseAmounts(hard),
    used: parseAmounts(used),
  };
}

/** Computes the additional usage of a write. An update that uses less releases nothing: the controller does. */
export function chargeOf(
  evaluator: Evaluator,
  write: { readonly object: ApiObject; readonly oldObject: ApiObject | undefined; readonly nowMs: number },
): Omit<Charge, 'paid'> {
  const { object, oldObject, nowMs } = write;
  const measured = evaluator.measure(object);
  const previous = oldObject === undefined ? undefined : evaluator.measure(oldObject);
  const before = previous === undefined ? NOTHING : computeUsageAt(previous, nowMs);
  const whole = computeUsageAt(measured, nowMs);
  return {
    evaluator,
    object,
    measured,
    whole,
    added: withoutZeros(subtractAmounts(whole, before)),
    previous,
  };
}

/** Returns the usage that a quota is charged for: all of an object that comes into its scopes by an update. */
function chargedTo({ scopes }: Account, { added, whole, previous }: Charge): Amounts {
  const wasInScopes = previous === undefined || scopes.every((scope) => matchesScope(scope, previous.scopes));
  return wasInScopes ? added : whole;
}

/** Evaluates the write against all quotas of its namespace, by the rules and messages of v1.21. */
export function evaluate(
  charge: Charge,
  accounts: readonly Account[],
  limited: readonly LimitedResource[],
): Evaluation {
  const concerned = accounts.filter((account) => isConcerned(account, charge));
  const problem = firstProblem(concerned, charge);
  if (problem !== undefined) return { refused: problem };
  const charged = concerned.map((account) => ({ account, usage: chargedTo(account, charge) }));
  const usages = charged.length === 0 ? [charge.added] : charged.map(({ usage }) => usage);
  if (usages.every((usage) => withoutZeros(usage).size === 0)) return { charges: new Map() };
  const uncovered = uncoveredProblem({ charge, concerned, accounts, limited });
  if (uncovered !== undefined) return { refused: uncovered };
  const charges = new Map<string, Amounts>();
  for (const { account, usage } of charged) {
    const wanted = withoutZeros(
      subtractAmounts(pickAmounts(usage, account.hard.keys()), charge.paid.get(account.uid) ?? NOTHING),
    );
    const exceeded = findExceeded(pickAmounts(addAmounts(account.used, wanted), wanted.keys()), account.hard);
    if (exceeded.length > 0) return { refused: exceededText(account, wanted, exceeded) };
    if (wanted.size > 0) charges.set(account.uid, wanted);
  }
  return { charges };
}

function isConcerned({ hard, scopes }: Account, { evaluator, measured }: Charge): boolean {
  return (
    [...hard.keys()].some((name) => evaluator.measures(name)) &&
    scopes.every((scope) => matchesScope(scope, measured.scopes))
  );
}

/** A pod without required requests, or a quota with unknown usage. */
function firstProblem(concerned: readonly Account[], { evaluator, object }: Charge): string | undefined {
  for (const { name, hard, used } of concerned) {
    const restricted = restrictedBy(hard, evaluator);
    const missing = evaluator.missing(restricted, object);
    if (missing.length > 0) return `failed quota: ${name}: must specify ${missing.join(',')}`;
    if (restricted.some((each) => !used.has(each))) {
      return `status unknown for quota: ${name}, resources: ${sortedNames(restricted).join(',')}`;
    }
  }
  return undefined;
}

function restrictedBy(hard: Amounts, evaluator: Evaluator): readonly string[] {
  return [...hard.keys()].filter((name) => evaluator.measures(name));
}

/** A limited resource without a quota that covers it. */
function uncoveredProblem({
  charge: { evaluator, measured },
  concerned,
  accounts,
  limited,
}: {
  readonly charge: Charge;
  readonly concerned: readonly Account[];
  readonly accounts: readonly Account[];
  readonly limited: readonly LimitedResource[];
}): string | undefined {
  if (limited.length === 0) return undefined;
  const { group, resource } = evaluator;
  const parts = limited
    .filter((each) => each.group === group && each.resource === resource)
    .flatMap((each) => each.parts);
  const covered = new Set(concerned.flatMap(({ hard }) => restrictedBy(hard, evaluator)));
  const names = [...withoutZeros(measured.usage).keys()].filter(
    (name) => !covered.has(name) && parts.some((part) => name.includes(part)),
  );
  if (names.length > 0) return `insufficient quota to consume: ${sortedNames(names).join(',')}`;
  const matching = (scopes: readonly ScopeRequirement[]): readonly ScopeRequirement[] =>
    scopes.filter((scope) => matchesScope(scope, measured.scopes));
  const coveredScopes = new Set(
    accounts.flatMap(({ scopes }) => matching(scopes)).map(({ scopeName }) => scopeName),
  );
  const uncovered = limited
    .flatMap(({ scopes }) => matching(scopes))
    .filter(({ scopeName }) => !coveredScopes.has(scopeName));
  if (uncovered.length === 0) return undefined;
  return `insufficient quota to match these scopes: [${uncovered.map(scopeText).join(' ')}]`;
}

/** Formats as Go does. */
function scopeText({ scopeName, operator, values }: ScopeRequirement): string {
  return `{${scopeName} ${operator} [${values.join(' ')}]}`;
}

function exceededText(account: Account, wanted: Amounts, exceeded: readonly string[]): string {
  const { name, used, quota } = account;
  const limits = formatListedAmounts(quota.status?.hard ?? {}, exceeded);
  const parts = [
    `exceeded quota: ${name}`,
    `requested: ${formatAmounts(pickAmounts(wanted, exceeded))}`,
    `used: ${formatAmounts(pickAmounts(used, exceeded))}`,
    `limited: ${limits}`,
  ];
  return parts.join(', ');
}
