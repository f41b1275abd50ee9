import type { ApiObject } from '../../../shared/object/object';
import type { AdmissionAttributes, AdmissionOperation } from '../../engine/registry/admission';
import { WriteNotes } from '../../engine/registry/write-notes';
import type { ClusterReader, ResourceName } from '../cluster/cluster-reader';

/** The part of a write by which plugins match it. */
export interface Subject {
  readonly operation: AdmissionOperation;
  readonly group: string;
  readonly resource: string;
  /** Empty for the object itself. */
  readonly subresource: string;
  readonly namespaced: boolean;
}

/** A type-level key; no value has it. */
declare const OBJECT: unique symbol;

/** Reports whether a plugin handles such writes. Called once for each kind of write. `T` is the type of their objects. */
export interface Concern<out T extends ApiObject = ApiObject> {
  (subject: Subject): boolean;
  readonly [OBJECT]?: T;
}

/** A write of an object of this kind, in its stored version. */
export interface WriteOf<out T extends ApiObject> extends AdmissionAttributes {
  readonly object: T | undefined;
  readonly oldObject: T | undefined;
}

/** The phases of a plugin. A missing phase admits everything. */
export interface Phases<T extends ApiObject = ApiObject> {
  /** Returns the object to continue with, possibly the same one. */
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
 * An admission plugin. It refuses by throwing a StatusError. A refusal that used other objects is decided again on fresh ones, so both
 * phases must be repeatable.
 */
export interface AdmissionPlugin extends Phases {
  readonly concerns: Concern;
}

/** Creates a plugin for objects of a known kind. The cast is safe because the concern matches only writes of this kind. */
export function pluginOf<T extends ApiObject>(concerns: Concern<T>, phases: Phases<T>): AdmissionPlugin {
  return { concerns, ...(phases as unknown as Phases) };
}

/**
 * State of the mutating phase of one object: all plugins run once, and again if one of them requests it, as webhooks with a
 * `reinvocationPolicy` do.
 */
export interface Reinvocation {
  /** True during the second invocation. */
  isSecond: boolean;
  wantsSecond: boolean;
  /** Notes of plugins from the first invocation for the second. */
  readonly notes: WriteNotes;
}

export function firstInvocation(): Reinvocation {
  return { isSecond: false, wantsSecond: false, notes: new WriteNotes() };
}

/** A plugin with the name used by flags. */
export interface NamedPlugin {
  readonly name: string;
  readonly plugin: AdmissionPlugin;
}

/** Matches these operations on the object itself, or on a subresource with the same object. */
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

/** Matches what any of these matches. */
export function anyOf<A extends ApiObject, B extends ApiObject>(
  one: Concern<A>,
  other: Concern<B>,
): Concern<A | B> {
  return (subject) => one(subject) || other(subject);
}

/** Reports whether this is a write of this resource or of a subresource that shows its object, for plugins of several resources. */
export function isWriteOf<T extends ApiObject>(
  { group, resource }: ResourceName<T>,
  attributes: AdmissionAttributes,
): attributes is WriteOf<T> {
  const { row } = attributes.write.endpoint;
  return row.group === group && row.resource === resource;
}
