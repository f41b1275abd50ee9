import { decodeObject } from '../../../../shared/schema/decode';
import type { KindType, MessageType } from '../../../../shared/schema/types';
import type { FieldSet } from '../../../../shared/fieldset/field-set';
import { createSet } from '../../../../shared/fieldset/field-set';
import { fieldElement } from '../../../../shared/fieldset/path-element';
import type { ObjectShape } from '../../../../shared/fieldset/shape';
import { rootShape } from '../../../../shared/fieldset/shape';
import type { ManagedKind, OtherVersion } from './managed-kind';

export interface KindOptions {
  readonly apiVersion: string;
  readonly type: KindType;
  /** Default: the shape of the type. A custom resource has a more specific schema. */
  readonly shape?: ObjectShape;
  /** The kind has a status subresource, so a write to the object does not change the status. */
  readonly hasStatus: boolean;
  /** Empty for the object itself. */
  readonly subresource: string;
  /** Additional paths (`status.conditions`) that writes to this place do not change. */
  readonly resets?: readonly string[];
  /** Absent for a kind with one version. */
  readonly otherVersion?: (apiVersion: string) => OtherVersion | undefined;
}

/** Field management for writes to the object or one of its subresources. */
export function managedKind(options: KindOptions): ManagedKind {
  const { apiVersion, type, shape = rootShape(type) } = options;
  return {
    apiVersion,
    shape,
    ignored: ignoredFields(options),
    blank: decodeObject(type, {}).object,
    emptied: type.open ? 'empty' : 'null',
    otherVersion: options.otherVersion ?? (() => undefined),
  };
}

/** The fields that a write to this place does not change, by the reset fields of the strategies of v1.21. */
export function ignoredFields({
  resets = [],
  ...place
}: Pick<KindOptions, 'type' | 'hasStatus' | 'subresource' | 'resets'>): FieldSet {
  return createSet(...[...usualResets(place), ...resets].map((path) => path.split('.').map(fieldElement)));
}

function usualResets({
  type,
  hasStatus,
  subresource,
}: Pick<KindOptions, 'type' | 'hasStatus' | 'subresource'>): readonly string[] {
  switch (subresource) {
    case '':
      return hasStatus ? ['status'] : [];
    case 'status':
      return type.open ? ['spec'] : namesOf(type).filter((name) => name !== 'metadata' && name !== 'status');
    case 'finalize':
      return ['status'];
    case 'approval':
      return ['spec'];
    default:
      return [];
  }
}

function namesOf(type: MessageType): readonly string[] {
  return type.fields.map(({ name }) => name);
}
