import type { Clock } from '../../../shared/concurrency/clock';
import type { BundleStore } from './bundle-store';
import { BUNDLE_FILE } from './bundle-store';
import { parseCertificate } from './ensure';
import type { Plan } from './plan';

/** How long a certificate of the plan is still valid; no time if it is missing. */
export interface Expiry {
  readonly name: string;
  /** ISO 8601. */
  readonly until: string | undefined;
  /** Whole days; negative once it has ended. */
  readonly daysLeft: number | undefined;
}

/** The authorities and certificates of the plan, those that end first first. */
export async function expiries(plan: Plan, store: BundleStore, clock: Clock): Promise<readonly Expiry[]> {
  const names = [...plan.authorities, ...plan.certificates].map(({ name }) => name);
  const rows: Expiry[] = [];
  for (const name of names) {
    const pem = (await store.read(name))?.[BUNDLE_FILE.certificate];
    rows.push({ name, ...validityOf(name, pem, clock) });
  }
  return rows.sort((a, b) => (a.daysLeft ?? -Infinity) - (b.daysLeft ?? -Infinity));
}

const DAY_MS = 86_400_000;

function validityOf(name: string, pem: string | undefined, clock: Clock): Omit<Expiry, 'name'> {
  if (pem === undefined) return { until: undefined, daysLeft: undefined };
  const certificate = parseCertificate(pem);
  if (certificate === undefined)
    throw new Error(`${BUNDLE_FILE.certificate} of the bundle "${name}" cannot be parsed; run certs ensure`);
  const untilMs = Date.parse(certificate.validTo);
  return { until: new Date(untilMs).toISOString(), daysLeft: Math.floor((untilMs - clock.now()) / DAY_MS) };
}
