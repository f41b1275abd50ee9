import { Pace } from '../../../shared/concurrency/pace';
import { afterConversion } from './conversion-needed';
import type { WriteAttempt } from './write-attempt';
import { judge, mutate, refuseEscalation, requireCreate } from './write-steps/admission';
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
import { prepareNew, refuseVersion, validateNew } from './write-steps/new-object';
import { prepareRules } from './write-steps/prepare-rules';
import { refuseFaults } from './write-steps/refuse-faults';
import { reserve } from './write-steps/reserve';

/** Sets its own fields of the draft, or throws a StatusError to refuse. A step that need not wait is no promise. */
type Step = (draft: WriteAttempt, signal: AbortSignal) => Promise<void> | undefined | void;

/**
 * What goes this way. A PUT or an apply of what is not there is a `create`; an `operation` is carried out and not stored, and a
 * `question` changes nothing, so that it may be asked about places that do not exist.
 */
type WriteKind = 'create' | 'update' | 'delete' | 'operation' | 'question';

/**
 * The pipeline of a write, from what its client asked for to what may be stored. All of it is run in every attempt, so that what is stored
 * is what was judged. Creations, updates, views of objects, deletions and operations choose steps, and none their order.
 */
const JOURNEY: readonly (readonly [step: Step, ...ways: readonly WriteKind[]])[] = [
  // Who means another object than the one that is there is not asked anything more.
  [checkDeletion, 'delete'],
  // The version of the request: patches, and the owners of fields, are about what the client sees.
  [change, 'create', 'update', 'operation', 'question'],
  [trackFields, 'create', 'update', 'operation', 'question'],
  // The version that is kept: from here on all rules know one form of the object alone.
  [toStored, 'create', 'update'],
  [refuseUnreadableVersion, 'create'],
  [relyOnDefinition, 'create', 'update'],
  // Plugins and webhooks may change everything, so that nothing is checked before them that they could undo.
  [mutate, 'create', 'update', 'delete', 'operation'],
  // Of what plugins made of the object, but before anything is told of its faults.
  [refuseEscalation, 'create', 'update'],
  // After what checks rights: who may not write the object at all is told of that, not of its version.
  [checkPreconditions, 'update'],
  // What belongs to the server alone comes after everybody who might set it.
  [prepareNew, 'create'],
  [prepareChanged, 'update'],
  [prepareRules, 'create', 'update'],
  // All faults at once, of the object as it would be stored.
  [validateNew, 'create'],
  [validateChanged, 'update'],
  [refuseFaults, 'create', 'update'],
  // An object that is invalid is told of first, whoever may not create it.
  [requireCreate, 'create'],
  // Last of those who can refuse: nobody pays a quota for an object that is refused all the same.
  [judge, 'create', 'update', 'delete', 'operation'],
  // As in upstream's store, after everybody else.
  [refuseVersion, 'create'],
  // What becomes of the object: written, marked, or removed.
  [removeFinished, 'update'],
  [planRemoval, 'delete'],
  // What is taken here has to be given back, so that nothing but the store comes after it.
  [reserve, 'create', 'update', 'delete'],
];

/** They take the same time whatever the object is, which counts with that of the next one. */
const SHORT: ReadonlySet<Step> = new Set([
  checkDeletion,
  refuseUnreadableVersion,
  relyOnDefinition,
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

function stepsOf(way: WriteKind): readonly NamedStep[] {
  return JOURNEY.filter(([, ...ways]) => ways.includes(way)).map(([step]) => ({
    step,
    isShort: SHORT.has(step),
    stage: `write_${step.name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}`,
  }));
}

/**
 * Takes the draft its whole way. Between long steps everything else has its turn. A step that is no promise may need conversions: it sets
 * its fields last, so that it can begin anew.
 */
export async function runWriteSteps(way: WriteKind, draft: WriteAttempt, signal: AbortSignal): Promise<void> {
  let pace = new Pace();
  for (const { step, stage, isShort } of STEPS[way]) {
    let waiting: unknown;
    // Not `converting`: it would take a closure for each step of each write.
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
