import type { FieldError } from '../../../shared/errors/field-error';
import type { ApiObject } from '../../../shared/object/object';
import type { Guard } from '../storage/backend';
import type { AdmissionAttributes, AdmissionOperation } from './admission';
import type { Reservation } from './reservation';
import type { Intent } from './write';
import type { WriteContext } from './write-context';
import { WriteNotes } from './write-notes';
import type { WriteRequest } from './write-request';

/**
 * Computes the next object from the current one, both in the version of the endpoint. A PUT ignores the
 * current one. Must be repeatable. Throws a StatusError to refuse.
 */
export type Change = (current: ApiObject | undefined) => ApiObject;

export interface UpdateOptions {
  /** Whether a missing object is created: `kind` if the kind allows it (PUT), `always` (apply), or never. */
  readonly creates: 'never' | 'kind' | 'always';
  /** The change has updated managedFields itself (apply). */
  readonly isTracked?: boolean;
}

/** Shows the object to admission as an object of another kind. */
export interface AdmittedView {
  /** The write request that admission sees. */
  readonly request: WriteRequest;
  show(object: ApiObject): ApiObject;
  /** Merges the shown object into the object. Throws Invalid. */
  merge(shown: ApiObject, object: ApiObject): ApiObject;
}

/** The parts of a write that are the same in all attempts. */
export interface WriteSpec {
  readonly context: WriteContext;
  readonly request: WriteRequest;
  readonly notes: WriteNotes;
  readonly change: Change;
  readonly options: UpdateOptions;
  /** The uid of the object, if it is a new one. */
  readonly uid: string;
  /** Absent where admission sees the object itself. */
  readonly view?: AdmittedView;
}

/**
 * One attempt of a write in the pipeline: each step reads what earlier steps have set, and sets its own
 * fields.
 */
export interface WriteAttempt {
  readonly asked: WriteSpec;
  readonly operation: AdmissionOperation;
  /** The current object in the stored version; undefined if there is none. */
  readonly current: ApiObject | undefined;
  /** The name under which the object is stored; empty until a missing one is generated. */
  name: string;
  /** Whether the server has generated the name, so that another one may be free. */
  isNameGenerated: boolean;
  /** The current object in the version of the request. */
  live: ApiObject | undefined;
  /** The object that the client sent or patched, in the version of the request, before mutation. */
  sent: ApiObject;
  /** The object of the next step: first what the client wants, in the end what will be stored. */
  object: ApiObject;
  /** The validation errors; empty for a valid object. */
  faults: readonly FieldError[];
  /** Records that must not change until the object is stored, by key. */
  guards: Map<string, Guard> | undefined;
  /** What the attempt does with the object. */
  outcome: Intent['kind'];
  /** What the write has reserved beyond its own key. */
  reservation: Reservation | undefined;
}

/** The spec of a write; by default the object does not change. */
export function ask(
  context: WriteContext,
  request: WriteRequest,
  what: Partial<Pick<WriteSpec, 'change' | 'options' | 'uid' | 'view'>> = {},
): WriteSpec {
  return {
    context,
    request,
    notes: new WriteNotes(),
    change: unchanged,
    options: NO_OPTIONS,
    uid: '',
    ...what,
  };
}

const NO_OPTIONS: UpdateOptions = { creates: 'never' };

function unchanged(current: ApiObject = NOTHING): ApiObject {
  return current;
}

export function newWriteAttempt(
  asked: WriteSpec,
  operation: AdmissionOperation,
  current: ApiObject | undefined,
): WriteAttempt {
  return {
    asked,
    operation,
    current,
    name: asked.request.name,
    isNameGenerated: false,
    live: undefined,
    sent: current ?? NOTHING,
    object: current ?? NOTHING,
    faults: [],
    guards: undefined,
    outcome: 'put',
    reservation: undefined,
  };
}

/** The object before the first step. */
const NOTHING: ApiObject = { metadata: {} };

/** The attributes of the attempt for admission at this step. */
export function attributesOf(draft: WriteAttempt): AdmissionAttributes {
  const { asked, operation, current, object } = draft;
  const { request, notes, view } = asked;
  // As upstream, the name of the request does not change when a webhook renames the object.
  const write =
    request.name === draft.name || request.name !== '' ? request : { ...request, name: draft.name };
  const next = operation === 'DELETE' ? undefined : object;
  const relyOn = operation === 'DELETE' ? undefined : relyingOn(draft);
  if (view === undefined) return { write, notes, operation, object: next, oldObject: current, relyOn };
  return {
    write: view.request,
    notes,
    operation,
    object: next && view.show(next),
    oldObject: current && view.show(current),
    relyOn,
  };
}

/** Returns a function that makes the write depend on another record: it fails if the record has changed. */
export function relyingOn(draft: WriteAttempt): (guard: Guard) => void {
  return (guard) => {
    (draft.guards ??= new Map()).set(guard.key, guard);
  };
}

/** The intent of a finished attempt. */
export function intentOf({ outcome, object, guards, reservation }: WriteAttempt): Intent {
  const held = reservation === undefined ? {} : { reservation };
  if (outcome !== 'put' || guards === undefined) return { kind: outcome, object, ...held };
  return { kind: outcome, object, guards: [...guards.values()], ...held };
}
