import type { ApiObject } from '../../../shared/object/object';
import type { AdmissionAttributes, AdmissionOperation } from '../../engine/registry/admission';
import { WriteNotes } from '../../engine/registry/write-notes';
import type { ClusterReader, ResourceName } from '../cluster/cluster-reader';

/** What a write is about, as far as a plugin's concern in it goes. */
export interface Subject {
  readonly operation: AdmissionOperation;
  readonly group: string;
  readonly resource: string;
  /** Empty for the object itself. */
  readonly subresource: string;
  readonly namespaced: boolean;
}

/** The key of what the compiler alone is told: no value has it. */
declare const OBJECT: unique symbol;

/**
 * Whether a plugin has anything to do with such writes. Asked once for each kind of write, so that all others cost nothing. `T` is what
 * the objects of these writes are.
 */
export interface Concern<out T extends ApiObject = ApiObject> {
  (subject: Subject): boolean;
  readonly [OBJECT]?: T;
}

/** A write of an object of this kind, in its stored version. */
export interface WriteOf<out T extends ApiObject> extends AdmissionAttributes {
  readonly object: T | undefined;
  readonly oldObject: T | undefined;
}

/** What a plugin does with writes of objects of one kind. A missing phase admits everything. */
export interface Phases<T extends ApiObject = ApiObject> {
  /** Returns the object that goes on, which may be the one it got. */
  readonly mutate?: (
    attributes: WriteOf<T>,
    cluster: ClusterReader,
    signal: AbortSignal,
    reinvocation?: Reinvocation,
  ) => Promise<T | undefined> | T | undefined;
  readonly validate?: (
    attributes: WriteOf<T>,
    cluster: ClusterReader,
    signal: AbortSignal,
  ) => Promise<void> | void;
}

/**
 * One rule beyond one object. A plugin refuses by throwing a StatusError; where it looked at other objects, the refusal counts only after it
 * was decided again on fresh ones, so that both phases must be repeatable.
 */
export interface AdmissionPlugin extends Phases {
  readonly concerns: Concern;
}

/**
 * A plugin that knows the kind of its objects. The one place where the kind is let go: what it is concerned with are writes of this kind
 * alone.
 */
export function pluginOf<T extends ApiObject>(concerns: Concern<T>, phases: Phases<T>): AdmissionPlugin {
  return { concerns, ...(phases as unknown as Phases) };
}

/**
 * The mutating phase of one object: all plugins are invoked once, and invoked again when one of them asks for it, as webhooks with a
 * `reinvocationPolicy` do.
 */
export interface Reinvocation {
  /** This is the second invocation. */
  isSecond: boolean;
  wantsSecond: boolean;
  /** What plugins remember from the first invocation for the second. */
  readonly notes: WriteNotes;
}

export function firstInvocation(): Reinvocation {
  return { isSecond: false, wantsSecond: false, notes: new WriteNotes() };
}

/** A plugin under the name by which flags switch it on and off. */
export interface NamedPlugin {
  readonly name: string;
  readonly plugin: AdmissionPlugin;
}

/** Concern for these operations on the object itself, or on one of the subresources that show it. */
export function writesOf<T extends ApiObject>(
  { group, resource }: ResourceName<T>,
  operations: readonly AdmissionOperation[],
  subresource = '',
): Concern<T> {
  return (subject) =>
    subject.group === group &&
    subject.resource === resource &&
    subject.subresource === subresource &&
    operations.includes(subject.operation);
}

/** Concern for what any of these is concerned with. */
export function anyOf<A extends ApiObject, B extends ApiObject>(
  one: Concern<A>,
  other: Concern<B>,
): Concern<A | B> {
  return (subject) => one(subject) || other(subject);
}

/** For plugins of several resources: whether this is a write of an object of this one, or of what a subresource shows of it. */
export function isWriteOf<T extends ApiObject>(
  { group, resource }: ResourceName<T>,
  attributes: AdmissionAttributes,
): attributes is WriteOf<T> {
  const { row } = attributes.write.endpoint;
  return row.group === group && row.resource === resource;
}
