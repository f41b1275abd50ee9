import { Pace } from '../../../shared/concurrency/pace';
import { afterConversion } from './conversion-needed';
import type { WriteAttempt } from './write-attempt';
import { validateAdmission, mutate, refuseEscalation, requireCreate } from './write-steps/admission';
import {
  change,
  refuseUnreadableVersion,
  relyOnDefinition,
  toStored,
  trackFields,
} from './write-steps/change';
import {
  checkPreconditions,
  prepareChanged,
  removeFinished,
  validateChanged,
} from './write-steps/changed-object';
import { checkDeletion, planRemoval } from './write-steps/deletion';
import { prepareNew, refuseVersion, validateNew, wipeNew } from './write-steps/new-object';
import { prepareRules, refuseFaults, warnOfObject } from './write-steps/refuse-faults';
import { reserve } from './write-steps/reserve';

/**
 * A step sets its own fields of the attempt, or throws a StatusError to refuse. Steps that need not wait
 * return no promise.
 */
type Step = (draft: WriteAttempt, signal: AbortSignal) => Promise<void> | undefined | void;

/**
 * The kind of a write. A PUT or an apply of a missing object is a `create`. An `operation` is run and not
 * stored. A `question` changes nothing, and may be about places that do not exist.
 */
type WriteKind = 'create' | 'update' | 'delete' | 'operation' | 'question';

/**
 * The write pipeline, from the request to the object that is stored. All steps run in every attempt, so that
 * what is stored is what was validated. Each kind of write selects steps; the order is the same for all.
 */
const WRITE_STEPS: readonly (readonly [step: Step, ...kinds: readonly WriteKind[]])[] = [
  // Preconditions first: a wrong uid or resourceVersion fails before anything else.
  [checkDeletion, 'delete'],
  // The version of the request: patches and field owners are about what the client sees.
  [change, 'create', 'update', 'operation', 'question'],
  // A client cannot choose the system's metadata; a mutating webhook can set some of it.
  [wipeNew, 'create'],
  [trackFields, 'create', 'update', 'operation', 'question'],
  // The stored version: from here on, all rules see one form of the object.
  [toStored, 'create', 'update'],
  [relyOnDefinition, 'create', 'update'],
  // Plugins and webhooks may change everything, so validation comes after them.
  [mutate, 'create', 'update', 'delete', 'operation'],
  [refuseUnreadableVersion, 'create', 'update'],
  // After mutation, before validation: escalation is checked on the mutated object.
  [refuseEscalation, 'create', 'update'],
  // After authorization checks: a user without the right to write gets Forbidden, not Conflict.
  [checkPreconditions, 'update'],
  // The server sets its own fields after everyone else who might set them.
  [prepareNew, 'create'],
  [prepareChanged, 'update'],
  [prepareRules, 'create', 'update'],
  // All errors at once, of the object as it would be stored.
  [validateNew, 'create'],
  [validateChanged, 'update'],
  [refuseFaults, 'create', 'update'],
  [warnOfObject, 'create', 'update'],
  // Validation errors come before a missing right to create.
  [requireCreate, 'create'],
  // Last of the checks that refuse: no quota is charged for an object that is refused anyway.
  [validateAdmission, 'create', 'update', 'delete', 'operation'],
  // After all other checks, as in the store of upstream.
  [refuseVersion, 'create'],
  // Decides whether the object is written, marked or removed.
  [removeFinished, 'update'],
  [planRemoval, 'delete'],
  // A reservation has to be released on failure, so only the store comes after it.
  [reserve, 'create', 'update', 'delete'],
];

/** Steps with a constant cost: their time counts with that of the next step. */
const SHORT: ReadonlySet<Step> = new Set([
  checkDeletion,
  refuseUnreadableVersion,
  relyOnDefinition,
  wipeNew,
  checkPreconditions,
  refuseFaults,
  requireCreate,
  refuseVersion,
  removeFinished,
  planRemoval,
]);

interface NamedStep {
  readonly step: Step;
  readonly isShort: boolean;
  /** For the metric of long steps: `write_track_fields`. */
  readonly stage: string;
}

const STEPS: Readonly<Record<WriteKind, readonly NamedStep[]>> = {
  create: stepsOf('create'),
  update: stepsOf('update'),
  delete: stepsOf('delete'),
  operation: stepsOf('operation'),
  question: stepsOf('question'),
};

function stepsOf(kind: WriteKind): readonly NamedStep[] {
  return WRITE_STEPS.filter(([, ...kinds]) => kinds.includes(kind)).map(([step]) => ({
    step,
    isShort: SHORT.has(step),
    stage: `write_${step.name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}`,
  }));
}

/**
 * Runs the steps of one attempt. The event loop gets turns between long steps. A step that returns no
 * promise may need a conversion: it sets its fields last, so that it can be retried.
 */
export async function runWriteSteps(
  kind: WriteKind,
  draft: WriteAttempt,
  signal: AbortSignal,
): Promise<void> {
  let pace = new Pace();
  for (const { step, stage, isShort } of STEPS[kind]) {
    let waiting: unknown;
    // Not `converting`, which would need a closure for each step of each write.
    try {
      waiting = step(draft, signal);
    } catch (error) {
      waiting = afterConversion(() => step(draft, signal), error, signal);
    }
    if (isShort && !(waiting instanceof Promise)) continue;
    const isDue = pace.isDueAfter(stage);
    if (waiting instanceof Promise) {
      await waiting;
      pace = new Pace();
    } else if (isDue) await pace.rest();
  }
}
