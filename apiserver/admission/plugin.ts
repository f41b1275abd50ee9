import type { ApiObject } from '../../shared/object/object';
import type { AdmissionAttributes, AdmissionOperation } from '../registry/admission';
import { WriteNotes } from '../registry/write-notes';
import type { ClusterReader } from './cluster-reader';

/** What a write is about, as far as a plugin's concern in it goes. */
export interface Subject {
  readonly operation: AdmissionOperation;
  readonly group: string;
  readonly resource: string;
  /** Empty for the object itself. */
  readonly subresource: string;
  readonly namespaced: boolean;
}

/** Whether a plugin has anything to do with such writes. Asked once for each kind of write, so that all others cost nothing. */
export type Concern = (subject: Subject) => boolean;

/**
 * One rule beyond one object. A missing phase admits everything. A plugin refuses by throwing a StatusError; where it looked at
 * other objects, the refusal counts only after it was decided again on fresh ones, so that both phases must be repeatable.
 */
export interface AdmissionPlugin {
  readonly concerns: Concern;
  /** Returns the object that goes on, which may be the one it got. */
  mutate?(
    attributes: AdmissionAttributes,
    cluster: ClusterReader,
    signal: AbortSignal,
    passes?: Passes,
  ): Promise<ApiObject | undefined> | ApiObject | undefined;
  validate?(
    attributes: AdmissionAttributes,
    cluster: ClusterReader,
    signal: AbortSignal,
  ): Promise<void> | void;
}

/** The passes of the mutating phase over one object: all plugins are asked once, and once more when one of them says so. */
export interface Passes {
  /** This is the second one. */
  isSecond: boolean;
  wantsSecond: boolean;
  /** What plugins remember from the first pass to the second. */
  readonly notes: WriteNotes;
}

export function firstPass(): Passes {
  return { isSecond: false, wantsSecond: false, notes: new WriteNotes() };
}

/** A plugin under the name by which flags switch it on and off. */
export interface NamedPlugin {
  readonly name: string;
  readonly plugin: AdmissionPlugin;
}

/** A resource by its name, whatever the version. */
export interface ResourceName {
  readonly group: string;
  readonly resource: string;
}

/** Concern for these operations on the object itself, or on one of its subresources. */
export function writesOf(
  { group, resource }: ResourceName,
  operations: readonly AdmissionOperation[],
  subresource = '',
): Concern {
  return (subject) =>
    subject.group === group &&
    subject.resource === resource &&
    subject.subresource === subresource &&
    operations.includes(subject.operation);
}

/** Concern for what any of these is concerned with. */
export function anyOf(...concerns: readonly Concern[]): Concern {
  return (subject) => concerns.some((concern) => concern(subject));
}
