import type { FieldError } from '../../../shared/errors/field-error';
import type { ApiObject } from '../../../shared/object/object';
import type { Guard } from '../storage/backend';
import type { AdmissionAttributes, AdmissionOperation } from './admission';
import type { Reservation } from './reservation';
import type { Intent } from './write';
import type { WriteContext } from './write-context';
import { WriteNotes } from './write-notes';
import type { WriteRequest } from './write-request';

/** Makes the next object from the current one, both in the endpoint's version; a PUT ignores it, a PATCH builds on it. Repeatable. Throws a StatusError to refuse. */
export type Change = (current: ApiObject | undefined) => ApiObject;

/** What a client may demand of an update. */
export interface UpdateOptions {
  /** A missing object is created: `kind` where the kind allows it (PUT), `always` for every kind (apply), or never. */
  readonly creates: 'never' | 'kind' | 'always';
  /** The change has brought managedFields up to date itself (apply). */
  readonly isTracked?: boolean;
}

/** Shows the object to admission as one of another kind. */
export interface AdmittedView {
  /** The write as admission is told of it. */
  readonly request: WriteRequest;
  show(object: ApiObject): ApiObject;
  /** The object with what the shown one says. Throws Invalid. */
  merge(shown: ApiObject, object: ApiObject): ApiObject;
}

/** What one write asks for: the same in all attempts. */
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

/** One attempt at a write, on its pipeline: a step reads what those before it have left, and sets fields of its own. */
export interface WriteAttempt {
  readonly asked: WriteSpec;
  readonly operation: AdmissionOperation;
  /** The object as it stands, in the version that is kept; undefined where there is none. */
  readonly current: ApiObject | undefined;
  /** The current one in the version of the request. */
  live: ApiObject | undefined;
  /** What the client wants, in the version of the request, before anybody else has touched it. */
  sent: ApiObject;
  /** What goes on: what the client wants, then what will be stored. */
  object: ApiObject;
  /** All that is wrong with the object; nothing of it is wrong when this is empty. */
  faults: readonly FieldError[];
  /** Records that must stay as they are for the object to be stored, by their keys. */
  guards: Map<string, Guard> | undefined;
  /** What is done with the object in the end. */
  outcome: Intent['kind'];
  /** What the write holds beyond its own key. */
  reservation: Reservation | undefined;
}

/** What a write asks for that says nothing else: that the object stays as it is. */
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
    live: undefined,
    sent: current ?? NOTHING,
    object: current ?? NOTHING,
    faults: [],
    guards: undefined,
    outcome: 'put',
    reservation: undefined,
  };
}

/** Before the first step has made anything. */
const NOTHING: ApiObject = { metadata: {} };

/** The attempt as admission sees it at this step. */
export function attributesOf(draft: WriteAttempt): AdmissionAttributes {
  const { asked, operation, current, object } = draft;
  const { request, notes, view } = asked;
  const next = operation === 'DELETE' ? undefined : object;
  const relyOn = operation === 'DELETE' ? undefined : relyingOn(draft);
  if (view === undefined)
    return { write: request, notes, operation, object: next, oldObject: current, relyOn };
  return {
    write: view.request,
    notes,
    operation,
    object: next && view.show(next),
    oldObject: current && view.show(current),
    relyOn,
  };
}

/** Lets the draft be stored only while other records stay as they were judged. */
export function relyingOn(draft: WriteAttempt): (guard: Guard) => void {
  return (guard) => {
    (draft.guards ??= new Map()).set(guard.key, guard);
  };
}

/** What the attempt comes to. */
export function intentOf({ outcome, object, guards, reservation }: WriteAttempt): Intent {
  const held = reservation === undefined ? {} : { reservation };
  if (outcome !== 'put' || guards === undefined) return { kind: outcome, object, ...held };
  return { kind: outcome, object, guards: [...guards.values()], ...held };
}
