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
  /** That of the type, if it is not given: the schema of a custom resource says more than its type. */
  readonly shape?: ObjectShape;
  /** The kind has a status subresource, so that a write to the object itself does not change the status. */
  readonly hasStatus: boolean;
  /** Empty for the object itself. */
  readonly subresource: string;
  /** Paths (`status.conditions`) that writes to this place do not change besides what they never do. */
  readonly resets?: readonly string[];
  /** Absent where a kind has one version only. */
  readonly otherVersion?: (apiVersion: string) => OtherVersion | undefined;
}

/** How fields of a kind with a schema are managed by writes to the object or to one of its subresources. */
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

/** What a write to this place does not change, after the reset fields of the strategies of v1.21. */
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
