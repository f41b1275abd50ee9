import type { Clock } from '../../../shared/concurrency/clock';
import type { Bundle, BundleChange, BundleStore } from './bundle-store';
import {
  BUNDLE_FILE,
  changeBundle,
  getTrustedAuthorities,
  joinCertificates,
  refuse,
  withoutCertificates,
} from './bundle-store';
import { ensureBundles, makeAuthorityBundle } from './ensure';
import type { AuthorityPlan, Plan } from './plan';

/**
 * What an operator can do next with an authority. Each phase leads to one state, so that it can be run again, also for several authorities of which
 * some have reached it.
 */
export const ROTATION_PHASES = ['trust', 'issue', 'finish', 'undo-issue', 'undo-trust'] as const;
export type RotationPhase = (typeof ROTATION_PHASES)[number];

/** Where an authority is: one alone, a successor that is trusted already, a successor that issues beside a trusted predecessor. */
export type RotationState = 'single' | 'trust' | 'issue';

export interface RotationOptions {
  readonly plan: Plan;
  readonly store: BundleStore;
  readonly clock: Clock;
  /** How long programs may take to read changed files, in milliseconds. The next phase is refused before. */
  readonly settleMs: number;
}

export interface RotationResult {
  readonly authority: string;
  readonly state: RotationState;
  /** False if the phase has to be run again: it was refused, or not all certificates could be written. */
  readonly isDone: boolean;
  readonly message: string;
}

/**
 * Runs one phase of the rotation of an authority, as Kubernetes describes the manual rotation of authorities. `trust` creates a successor,
 * which all programs trust beside the current authority. `issue` makes the successor issue all certificates. `finish` removes the predecessor.
 * A phase that was interrupted is completed by running it again: all state is in the authority's bundle. `certs ensure` writes the certificates of
 * such a phase too, but does not record that it is complete.
 * Throws what the store throws.
 */
export async function rotateAuthority(
  options: RotationOptions,
  authority: AuthorityPlan,
  phase: RotationPhase,
): Promise<RotationResult> {
  const { store, clock, settleMs } = options;
  const { name } = authority;
  const found = await readRotation(store, name);
  if (found === undefined) return { ...ABSENT, authority: name };
  const refused = (message: string): RotationResult => ({
    authority: name,
    state: found.state,
    isDone: false,
    message,
  });
  const step = STEPS[phase];
  if (step.from !== found.state && step.to !== found.state)
    return refused(`the phase ${phase} does not follow on the state "${found.state}": ${NEXT[found.state]}`);
  const isInterrupted = found.state !== 'single' && found.completedMs === undefined;
  if (step.to === found.state) return completePhase(options, name, isInterrupted);
  if (step.settles) {
    if (found.completedMs === undefined)
      return refused(`the phase ${found.state} is not complete: run it again first`);
    if ((await convergeBundles(options, name)).changed > 0) {
      await markCompleted(options, name);
      return refused(`certificates were written just now: run this again ${inSeconds(settleMs)}`);
    }
    const leftMs = found.completedMs + settleMs - clock.now();
    if (leftMs > 0)
      return refused(
        `programs may still read the files of the phase before: run this again ${inSeconds(leftMs)}`,
      );
  }
  const { action, reason } = await changeBundle(store, name, (before) =>
    before !== undefined && stateOf(before) === step.from
      ? { reason: phase, make: () => step.apply(before, authority, clock) }
      : refuse('another run rotates this authority'),
  );
  if (action === 'refused') return refused(reason);
  return completePhase(options, name);
}

/** Reports where an authority is, without changing anything. */
export async function describeRotation(store: BundleStore, name: string): Promise<RotationResult> {
  const found = await readRotation(store, name);
  if (found === undefined) return { ...ABSENT, authority: name };
  const { state, completedMs } = found;
  const isDone = state === 'single' || completedMs !== undefined;
  const message = isDone ? NEXT[state] : `the phase ${state} is not complete: run it again`;
  return { authority: name, state, isDone, message };
}

const ABSENT = {
  state: 'single',
  isDone: false,
  message: 'the authority is missing: run certs ensure, or restore it from a backup',
} as const;

const NEXT: Readonly<Record<RotationState, string>> = {
  single: '--phase=trust begins a rotation',
  trust: 'once all programs and clients trust the successor, --phase=issue; --phase=undo-trust drops it',
  issue:
    'once no program uses a certificate of the predecessor, --phase=finish; --phase=undo-issue lets the predecessor issue again',
};

/** In place of the time at which a phase was completed. */
const INCOMPLETE = 'incomplete\n';

interface Step {
  readonly from: RotationState;
  readonly to: RotationState;
  /** Whether every program must have read the files of the phase before. */
  readonly settles: boolean;
  readonly apply: Change;
}

type Change = (before: Bundle, plan: AuthorityPlan, clock: Clock) => Bundle;

const STEPS: Readonly<Record<RotationPhase, Step>> = {
  trust: { from: 'single', to: 'trust', settles: false, apply: addSuccessor },
  issue: { from: 'trust', to: 'issue', settles: true, apply: promoteSuccessor },
  finish: { from: 'issue', to: 'single', settles: true, apply: dropping(BUNDLE_FILE.previousCertificate) },
  'undo-issue': { from: 'issue', to: 'trust', settles: false, apply: demoteSuccessor },
  'undo-trust': { from: 'trust', to: 'single', settles: true, apply: dropping(BUNDLE_FILE.nextCertificate) },
};

function addSuccessor(before: Bundle, plan: AuthorityPlan, clock: Clock): Bundle {
  const successor = makeAuthorityBundle(plan, clock);
  const certificate = successor[BUNDLE_FILE.certificate] ?? '';
  return {
    ...withoutRotation(before),
    [BUNDLE_FILE.authority]: joinCertificates(getTrustedAuthorities(before), certificate),
    [BUNDLE_FILE.nextCertificate]: certificate,
    [BUNDLE_FILE.nextKey]: successor[BUNDLE_FILE.key] ?? '',
    [BUNDLE_FILE.rotation]: INCOMPLETE,
  };
}

function promoteSuccessor(before: Bundle): Bundle {
  return {
    ...withoutRotation(before),
    [BUNDLE_FILE.certificate]: before[BUNDLE_FILE.nextCertificate] ?? '',
    [BUNDLE_FILE.key]: before[BUNDLE_FILE.nextKey] ?? '',
    [BUNDLE_FILE.previousCertificate]: before[BUNDLE_FILE.certificate] ?? '',
    [BUNDLE_FILE.previousKey]: before[BUNDLE_FILE.key] ?? '',
    [BUNDLE_FILE.rotation]: INCOMPLETE,
  };
}

/** Ends a rotation without this certificate. The record has the fingerprint of the successor since the phase `issue` was completed. */
function dropping(dropped: string): Change {
  return (before) => ({
    ...withoutRotation(before),
    [BUNDLE_FILE.authority]: withoutCertificates(getTrustedAuthorities(before), before[dropped] ?? ''),
  });
}

function demoteSuccessor(before: Bundle): Bundle {
  return {
    ...withoutRotation(before),
    [BUNDLE_FILE.certificate]: before[BUNDLE_FILE.previousCertificate] ?? '',
    [BUNDLE_FILE.key]: before[BUNDLE_FILE.previousKey] ?? '',
    [BUNDLE_FILE.nextCertificate]: before[BUNDLE_FILE.certificate] ?? '',
    [BUNDLE_FILE.nextKey]: before[BUNDLE_FILE.key] ?? '',
    // The record may know the successor already.
    [BUNDLE_FILE.previousCertificate]: before[BUNDLE_FILE.certificate] ?? '',
    [BUNDLE_FILE.rotation]: INCOMPLETE,
  };
}

function withoutRotation(bundle: Bundle): Bundle {
  const {
    [BUNDLE_FILE.rotation]: _rotation,
    [BUNDLE_FILE.nextCertificate]: _nextCertificate,
    [BUNDLE_FILE.nextKey]: _nextKey,
    [BUNDLE_FILE.previousCertificate]: _previousCertificate,
    [BUNDLE_FILE.previousKey]: _previousKey,
    ...others
  } = bundle;
  return others;
}

interface Rotation {
  readonly state: RotationState;
  /** When all certificates had been written, in milliseconds since 1970. Undefined if the phase was interrupted. */
  readonly completedMs: number | undefined;
}

async function readRotation(store: BundleStore, name: string): Promise<Rotation | undefined> {
  const bundle = await store.read(name);
  if (bundle === undefined) return undefined;
  return { state: stateOf(bundle), completedMs: completedMsOf(bundle) };
}

function completedMsOf(bundle: Bundle): number | undefined {
  const completedMs = Date.parse((bundle[BUNDLE_FILE.rotation] ?? '').trim());
  return Number.isNaN(completedMs) ? undefined : completedMs;
}

/** A bundle says by its keys where it is; `previous.crt` alone is no state. */
function stateOf(bundle: Bundle): RotationState {
  if (bundle[BUNDLE_FILE.nextKey] !== undefined) return 'trust';
  return bundle[BUNDLE_FILE.previousKey] === undefined ? 'single' : 'issue';
}

/**
 * Writes what the phase changes in the certificates of the authority, and records that it is complete. With `isInterrupted`, programs are restarted
 * although their certificates are written: the run may have ended between the two.
 */
async function completePhase(
  options: RotationOptions,
  name: string,
  isInterrupted = false,
): Promise<RotationResult> {
  const { changed, refused } = await convergeBundles(options, name);
  if (isInterrupted) await restartPrograms(options, name);
  if (refused.length === 0) await markCompleted(options, name, changed === 0);
  const { state, message } = await describeRotation(options.store, name);
  if (refused.length > 0)
    return { authority: name, state, isDone: false, message: `not complete: ${refused.join('; ')}` };
  return { authority: name, state, isDone: true, message };
}

async function restartPrograms({ plan, store }: RotationOptions, name: string): Promise<void> {
  for (const { authority, restart, restartForTrust } of plan.certificates) {
    if (authority !== name) continue;
    if (restart !== undefined) await store.restart({ kind: 'Deployment', name: restart });
    if (restartForTrust !== undefined) await store.restart({ kind: 'StatefulSet', name: restartForTrust });
  }
}

async function convergeBundles(
  { plan, store, clock }: RotationOptions,
  name: string,
): Promise<{ readonly changed: number; readonly refused: readonly string[] }> {
  const ensured = await ensureBundles(plan, store, clock, { isRenewal: true });
  const issued = plan.certificates.filter((each) => each.authority === name).map((each) => each.name);
  const own = ensured.filter((each) => each.name === name || issued.includes(each.name));
  return {
    changed: own.filter(({ action }) => action === 'made' || action === 'renewed').length,
    refused: own.filter(({ action }) => action === 'refused').map((each) => `${each.name}: ${each.reason}`),
  };
}

/** Sets the time from which programs have to settle. With `keeps`, a time that is there is kept. */
async function markCompleted({ store, clock }: RotationOptions, name: string, keeps = false): Promise<void> {
  await changeBundle(store, name, (before): BundleChange | undefined => {
    if (before === undefined || stateOf(before) === 'single') return undefined;
    if (keeps && completedMsOf(before) !== undefined) return undefined;
    return {
      reason: 'complete',
      make: () => ({ ...before, [BUNDLE_FILE.rotation]: `${new Date(clock.now()).toISOString()}\n` }),
    };
  });
}

function inSeconds(milliseconds: number): string {
  return `in ${String(Math.ceil(milliseconds / 1000))} s`;
}
