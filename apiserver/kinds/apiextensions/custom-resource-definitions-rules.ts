import type { ApiObject } from '../../../shared/object/object';
import type { FieldError } from '../../../shared/errors/field-error';
import { invalid, notSupported, required } from '../../../shared/errors/field-error';
import { dns1035LabelProblems, dns1123SubdomainProblems } from '../../../shared/meta/dns-names';
import type { Strategy } from '../../registry/strategy';
import type { Json } from '../../../shared/object/accessors';
import { record, records, strings, text } from '../../../shared/object/accessors';
import { validateApproval } from './crd-approval';
import { validateConversion } from './crd-conversion';
import type { Demands } from './crd-demands';
import { demandsOf, hasDefault, hasSchemaWith, preservesUnknownFields } from './crd-demands';
import { validateSharedParts } from './crd-shared-parts';
import { validateVersions } from './crd-versions';
import { forEachItem, immutable, optionalForm } from '../rules/primitives';

/** Field paths are those of upstream's internal form, which keeps what all versions share in one place. */
export const customResourceDefinitionRules: Pick<
  Strategy,
  'prepareForCreate' | 'prepareForUpdate' | 'validateSent' | 'validateUpdate' | 'validateNew'
> = {
  prepareForCreate: (object) =>
    withStorageVersion({
      ...object,
      status: { acceptedNames: { plural: '', kind: '' }, storedVersions: [] },
    }),
  prepareForUpdate: (next) => withStorageVersion(next),
  validateSent: (object, { via }) => validateSharedParts(object, via),
  validateNew: (object, { via }) => [
    ...nameOfPluralAndGroup(object),
    ...validateWhole(object, demandsOf(object, via)),
    ...(via.version === 'v1' ? validateApproval(object) : []),
  ],
  validateUpdate: (next, previous, { via }) => [
    ...validateWhole(next, demandsOf(next, via, previous)),
    ...validateChange(next, previous),
    ...(via.version === 'v1' ? validateApproval(next, previous) : []),
  ],
};

function validateWhole(object: ApiObject, demands: Demands): FieldError[] {
  return [
    ...validateSpec(record(object['spec']), demands),
    ...validateStoredVersions(object),
    ...validateNames(record(record(object['status'])['acceptedNames']), 'status.acceptedNames'),
  ];
}

/** Every version that ever was the storage version is remembered, since objects may still be stored in it. */
function withStorageVersion(object: ApiObject): ApiObject {
  const status = record(object['status']);
  const stored = strings(status['storedVersions']);
  const current = records(record(object['spec'])['versions']).find((each) => each['storage'] === true);
  const name = text(current?.['name']);
  if (current === undefined || stored.includes(name)) return object;
  return { ...object, status: { ...status, storedVersions: [...stored, name] } };
}

function nameOfPluralAndGroup(object: ApiObject): FieldError[] {
  const spec = record(object['spec']);
  const { name = '' } = object.metadata;
  const expected = `${text(record(spec['names'])['plural'])}.${text(spec['group'])}`;
  if (name === '' || name === expected) return [];
  return [invalid('metadata.name', name, 'must be spec.names.plural+"."+spec.group')];
}

const SCOPES = ['Cluster', 'Namespaced'];
const NAMES = ['plural', 'singular', 'kind', 'listKind'] as const;

function validateSpec(spec: Json, demands: Demands): FieldError[] {
  const names = record(spec['names']);
  const scope = text(spec['scope']);
  return [
    ...validateGroup(text(spec['group'])),
    ...(scope === '' ? [required('spec.scope')] : []),
    ...(scope === '' || SCOPES.includes(scope) ? [] : [notSupported('spec.scope', scope, SCOPES)]),
    ...(preservesUnknownFields(spec) && demands.defaults && hasSchemaWith(spec, hasDefault)
      ? [invalid('spec.preserveUnknownFields', true, 'must be false in order to use defaults in the schema')]
      : []),
    ...(demands.pruning && preservesUnknownFields(spec)
      ? [
          invalid(
            'spec.preserveUnknownFields',
            true,
            'cannot set to true, set x-preserve-unknown-fields to true in spec.versions[*].schema instead',
          ),
        ]
      : []),
    ...NAMES.filter((field) => text(names[field]) === '').map((field) => required(`spec.names.${field}`)),
    ...validateNames(names, 'spec.names'),
    ...validateVersions(spec, demands),
    ...validateConversion(spec, demands),
  ];
}

function validateGroup(group: string): FieldError[] {
  const path = 'spec.group';
  if (group === '') return [required(path)];
  const problems = dns1123SubdomainProblems(group);
  if (problems.length > 0) return [invalid(path, group, problems.join(','))];
  return group.includes('.') ? [] : [invalid(path, group, 'should be a domain with at least one dot')];
}

function validateNames(names: Json, path: string): FieldError[] {
  const kind = text(names['kind']);
  const lower = (name: string): readonly string[] =>
    dns1035LabelProblems(name.toLowerCase())
      .slice(0, 1)
      .map((problem) => `may have mixed case, but should otherwise match: ${problem}`);
  const exact = (name: string): readonly string[] => dns1035LabelProblems(name).slice(0, 1);
  return [
    ...optionalForm(names['plural'], `${path}.plural`, exact),
    ...optionalForm(names['singular'], `${path}.singular`, exact),
    ...optionalForm(names['kind'], `${path}.kind`, lower),
    ...optionalForm(names['listKind'], `${path}.listKind`, lower),
    ...(kind !== '' && kind === names['listKind']
      ? [invalid(`${path}.listKind`, kind, 'kind and listKind may not be the same')]
      : []),
    ...['shortNames', 'categories'].flatMap((field) =>
      forEachItem(strings(names[field]), `${path}.${field}`, (name, at) =>
        exact(name).map((problem) => invalid(at, name, problem)),
      ),
    ),
  ];
}

function validateStoredVersions(object: ApiObject): FieldError[] {
  const path = 'status.storedVersions';
  const stored = strings(record(object['status'])['storedVersions']);
  const versions = records(record(object['spec'])['versions']);
  const names = new Set(versions.map((version) => text(version['name'])));
  const isStored = new Set(stored);
  return [
    ...(stored.length === 0 ? [invalid(path, stored, 'must have at least one stored version')] : []),
    ...versions
      .filter((version) => version['storage'] === true && !isStored.has(text(version['name'])))
      .map((version) => invalid(path, stored, `must have the storage version ${text(version['name'])}`)),
    ...forEachItem(stored, path, (name, at) =>
      names.has(name) ? [] : [invalid(at, name, 'must appear in spec.versions')],
    ),
  ];
}

/** The group and the plural are where objects are stored; once names are accepted, so are the kind and the scope. */
function validateChange(next: ApiObject, previous: ApiObject): FieldError[] {
  const after = record(next['spec']);
  const before = record(previous['spec']);
  const names = record(after['names']);
  const oldNames = record(before['names']);
  const isEstablished = records(record(previous['status'])['conditions']).some(
    (condition) => condition['type'] === 'Established' && condition['status'] === 'True',
  );
  return [
    ...(isEstablished
      ? [
          ...immutable(after['scope'], before['scope'], 'spec.scope'),
          ...immutable(names['kind'], oldNames['kind'], 'spec.names.kind'),
        ]
      : []),
    ...immutable(after['group'], before['group'], 'spec.group'),
    ...immutable(names['plural'], oldNames['plural'], 'spec.names.plural'),
  ];
}
