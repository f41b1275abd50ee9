import type { FieldError } from '../errors/field-error';
import { forbiddenField, invalid, required, tooLong, validateUntilLimit } from '../errors/field-error';
import { goQuote } from '../errors/go-quote';
import type { GoValue } from '../errors/go-values';
import { goStruct, goTime } from '../errors/go-values';
import { FINALIZER } from '../names';
import { isLonger, qualifiedNameProblems } from './dns-names';
import type { NameRule } from './name-rules';
import { labelName, subdomainName } from './name-rules';
import type { ManagedFieldsEntry, ObjectMeta, OwnerReference } from '../object/object';
import type { Int64 } from '../object/values';
import { validateAnnotations, validateLabels } from './validate-labels';

export interface ObjectMetaRules {
  readonly namespaced: boolean;
  readonly validateName: NameRule;
  /** Path of the metadata in the object: `metadata`, or `spec.template.metadata`. */
  readonly path: string;
  /** True for custom resources, whose finalizers need no domain. */
  readonly freeFinalizers?: boolean;
}

/** Validates the metadata of an object before it is created. The name must already be generated. */
export function validateObjectMeta(meta: ObjectMeta, rules: ObjectMetaRules): FieldError[] {
  const { path } = rules;
  return [
    ...validateNames(meta, rules),
    ...validateNamespace(meta.namespace ?? '', rules),
    ...(meta.clusterName === undefined || meta.clusterName === ''
      ? []
      : problemsOf(subdomainName, `${path}.clusterName`, meta.clusterName)),
    ...validateGeneration(meta.generation, path),
    ...validateLabels(meta.labels, `${path}.labels`),
    ...validateAnnotations(meta.annotations, `${path}.annotations`),
    ...validateOwnerReferences(meta.ownerReferences ?? [], `${path}.ownerReferences`),
    ...validateFinalizers(meta.finalizers ?? [], `${path}.finalizers`, rules.freeFinalizers ?? false),
    ...validateManagedFields(meta.managedFields ?? [], path),
  ];
}

/**
 * Validates the change of metadata from `previous` to `next`, in addition to `validateObjectMeta` of `next`
 * (with the rule `pathSegmentName`, since stored names are not validated again). Fields that the system sets
 * (uid, creationTimestamp, deletionTimestamp, generation) must already be copied.
 */
export function validateObjectMetaUpdate(next: ObjectMeta, previous: ObjectMeta, path: string): FieldError[] {
  const errors: FieldError[] = [];
  if (isSet(previous.deletionTimestamp)) {
    errors.push(...validateNoNewFinalizers(next.finalizers, previous.finalizers, `${path}.finalizers`));
  }
  if ((next.resourceVersion ?? '') === '') {
    errors.push(invalid(`${path}.resourceVersion`, '', 'must be specified for an update'));
  }
  if ((next.generation ?? 0) < (previous.generation ?? 0)) {
    errors.push(invalid(`${path}.generation`, next.generation ?? 0, 'must not be decremented'));
  }
  return [...errors, ...validateImmutable(next, previous, path)];
}

/** An object that is being deleted may lose finalizers but gain none. */
function validateNoNewFinalizers(
  next: readonly string[] | undefined,
  previous: readonly string[] | undefined,
  path: string,
): FieldError[] {
  const known = new Set(previous);
  const extra = [...new Set(next)].filter((finalizer) => !known.has(finalizer)).sort();
  if (extra.length === 0) return [];
  const list = extra.map((finalizer) => JSON.stringify(finalizer)).join(', ');
  return [
    forbiddenField(
      path,
      `no new finalizers can be added if the object is being deleted, found new finalizers []string{${list}}`,
    ),
  ];
}

/**
 * Errors that repeat a value, which may be as long as a request. Without a limit a small request could exhaust
 * memory.
 */
const REPEATING_ERRORS_MAX = 8;

const FIELD_MANAGER_BYTES_MAX = 128;
const NOT_PRINTABLE = /[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/u;

/** Validates the `fieldManager` parameter and `managedFields[].manager`; empty means absent. */
export function validateFieldManager(manager: string, path: string): FieldError[] {
  const isTooLong = isLonger(manager, FIELD_MANAGER_BYTES_MAX);
  const errors = isTooLong ? [tooLong(path, manager, FIELD_MANAGER_BYTES_MAX)] : [];
  let position = 0;
  for (const character of manager) {
    if (isTooLong && errors.length > REPEATING_ERRORS_MAX) break;
    if (NOT_PRINTABLE.test(character)) {
      const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
      errors.push(invalid(path, manager, `invalid character U+${code} (at position ${String(position)})`));
    }
    position += Buffer.byteLength(character);
  }
  return errors;
}

function validateNames(meta: ObjectMeta, { validateName, path }: ObjectMetaRules): FieldError[] {
  const { name = '', generateName = '' } = meta;
  const errors =
    generateName === ''
      ? []
      : validateName(generateName, true).map((problem) =>
          invalid(`${path}.generateName`, generateName, problem),
        );
  if (name === '') return [...errors, required(`${path}.name`, 'name or generateName is required')];
  return [...errors, ...problemsOf(validateName, `${path}.name`, name)];
}

function validateNamespace(namespace: string, { namespaced, path }: ObjectMetaRules): FieldError[] {
  const field = `${path}.namespace`;
  if (!namespaced) return namespace === '' ? [] : [forbiddenField(field, 'not allowed on this type')];
  return namespace === '' ? [required(field)] : problemsOf(labelName, field, namespace);
}

function validateGeneration(generation: Int64 | undefined, path: string): FieldError[] {
  if (generation === undefined || generation >= 0) return [];
  return [invalid(`${path}.generation`, generation, 'must be greater than or equal to 0')];
}

const IMMUTABLE_TEXTS = ['name', 'namespace', 'uid', 'clusterName'] as const;
const IMMUTABLE_TIMES = ['creationTimestamp', 'deletionTimestamp'] as const;

function validateImmutable(next: ObjectMeta, previous: ObjectMeta, path: string): FieldError[] {
  const immutable = (field: string, value: unknown): FieldError =>
    invalid(`${path}.${field}`, value, 'field is immutable');
  const texts = IMMUTABLE_TEXTS.filter((field) => (next[field] ?? '') !== (previous[field] ?? ''));
  const times = IMMUTABLE_TIMES.filter((field) => !isSameTime(next[field], previous[field]));
  const grace = next.deletionGracePeriodSeconds ?? null;
  return [
    ...texts.map((field) => immutable(field, next[field] ?? '')),
    ...times.map((field) => immutable(field, goTime(next[field]))),
    ...(grace === (previous.deletionGracePeriodSeconds ?? null)
      ? []
      : [immutable('deletionGracePeriodSeconds', grace)]),
  ];
}

function validateOwnerReferences(references: readonly OwnerReference[], path: string): FieldError[] {
  // As upstream, a controller reference without a name conflicts with no other.
  let controller = '';
  let controllerErrors = 0;
  return validateUntilLimit(references, (reference) => {
    const errors = validateOwnerReference(reference, path);
    if (reference.controller !== true) return errors;
    if (controller === '') controller = (reference as Partial<OwnerReference>).name ?? '';
    else if (controllerErrors < REPEATING_ERRORS_MAX) {
      controllerErrors += 1;
      const why = `Only one reference can have Controller set to true. Found "true" in references for ${controller} and ${reference.name}`;
      errors.push(invalid(path, references, why));
    }
    return errors;
  });
}

/** Formats an owner reference; as upstream, one with a pointer is JSON. */
function inGo(reference: OwnerReference): GoValue | OwnerReference {
  const { apiVersion, kind, name, uid, controller, blockOwnerDeletion } =
    reference as Partial<OwnerReference>;
  if (controller !== undefined || blockOwnerDeletion !== undefined) return reference;
  return goStruct('v1.OwnerReference', {
    APIVersion: goQuote(apiVersion ?? ''),
    Kind: goQuote(kind ?? ''),
    Name: goQuote(name ?? ''),
    UID: goQuote(uid ?? ''),
    Controller: '(*bool)(nil)',
    BlockOwnerDeletion: '(*bool)(nil)',
  });
}

function validateOwnerReference(reference: OwnerReference, path: string): FieldError[] {
  // Decoded JSON may lack any of these, in spite of the type.
  const { apiVersion = '', kind = '', name = '', uid = '' } = reference as Partial<OwnerReference>;
  const errors: FieldError[] = [];
  if (!hasVersion(apiVersion)) {
    errors.push(invalid(`${path}.apiVersion`, apiVersion, 'version must not be empty'));
  }
  if (kind === '') errors.push(invalid(`${path}.kind`, kind, 'kind must not be empty'));
  if (name === '') errors.push(invalid(`${path}.name`, name, 'name must not be empty'));
  if (uid === '') errors.push(invalid(`${path}.uid`, uid, 'uid must not be empty'));
  // Events expire by their lease, so they cannot own objects.
  if (apiVersion === 'v1' && kind === 'Event') {
    errors.push(invalid(path, inGo(reference), '/v1, Kind=Event is disallowed from being an owner'));
  }
  return errors;
}

/** True for `v1` or `group/v1`. */
function hasVersion(apiVersion: string): boolean {
  const parts = apiVersion.split('/');
  return parts.length <= 2 && parts.at(-1) !== '';
}

const STANDARD_FINALIZERS: ReadonlySet<string> = new Set(Object.values(FINALIZER));

/**
 * Validates a finalizer of a built-in kind, or of `spec.finalizers` of a Namespace: a qualified name with a
 * domain, or a standard one.
 */
export function validateFinalizerName(finalizer: string, path: string): FieldError[] {
  return [...qualifiedName(finalizer, path), ...standardOrWithDomain(finalizer, path)];
}

function qualifiedName(finalizer: string, path: string): FieldError[] {
  return qualifiedNameProblems(finalizer).map((problem) => invalid(path, finalizer, problem));
}

function standardOrWithDomain(finalizer: string, path: string): FieldError[] {
  if (finalizer.includes('/') || STANDARD_FINALIZERS.has(finalizer)) return [];
  return [invalid(path, finalizer, 'name is neither a standard finalizer name nor is it fully qualified')];
}

function validateFinalizers(finalizers: readonly string[], path: string, isFree: boolean): FieldError[] {
  const errors = validateUntilLimit(finalizers, (finalizer) => qualifiedName(finalizer, path));
  if (finalizers.includes(FINALIZER.orphan) && finalizers.includes(FINALIZER.foregroundDeletion)) {
    const text = `finalizer ${FINALIZER.orphan} and ${FINALIZER.foregroundDeletion} cannot be both set`;
    errors.push(invalid(path, finalizers, text));
  }
  if (isFree) return errors;
  const withIndex = validateUntilLimit(finalizers, (finalizer, index) =>
    standardOrWithDomain(finalizer, `${path}[${String(index)}]`),
  );
  return [...errors, ...withIndex];
}

function validateManagedFields(entries: readonly ManagedFieldsEntry[], path: string): FieldError[] {
  return validateUntilLimit(entries, ({ manager = '', operation = '', fieldsType = '' }, index) => {
    const at = `${path}.managedFields[${String(index)}]`;
    const isKnown = operation === 'Apply' || operation === 'Update';
    const isReadable = fieldsType === '' || fieldsType === 'FieldsV1';
    return [
      ...(isKnown ? [] : [invalid(`${at}.operation`, operation, 'must be `Apply` or `Update`')]),
      ...(isReadable ? [] : [invalid(`${at}.fieldsType`, fieldsType, 'must be `FieldsV1`')]),
      ...validateFieldManager(manager, `${at}.manager`),
    ];
  });
}

function problemsOf(rule: NameRule, field: string, value: string): FieldError[] {
  return rule(value, false).map((problem) => invalid(field, value, problem));
}

function isSet(time: string | null | undefined): time is string {
  return time !== undefined && time !== null;
}

/** True for the same time in any time zone. */
function isSameTime(a: string | null | undefined, b: string | null | undefined): boolean {
  if (!isSet(a) || !isSet(b)) return isSet(a) === isSet(b);
  return a === b || Date.parse(a) === Date.parse(b);
}
