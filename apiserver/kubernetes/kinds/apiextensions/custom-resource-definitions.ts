import type {
  CustomResourceConversion,
  CustomResourceDefinition,
  CustomResourceDefinitionNames,
  CustomResourceDefinitionSpec,
  CustomResourceDefinitionStatus,
  WebhookConversion,
} from '../../../../shared/api/types/apiextensions-v1';
import type { FieldError } from '../../../../shared/errors/field-error';
import { invalid, notSupported, required } from '../../../../shared/errors/field-error';
import { goNoItems } from '../../../../shared/errors/go-values';
import { dns1035LabelProblems, dns1123SubdomainProblems } from '../../../../shared/meta/dns-names';
import { FINALIZER, GROUP } from '../../../../shared/names';
import { warmPatterns } from '../../../../shared/structural/warm-patterns';
import { withCondition } from '../../../engine/registry/conditions';
import { timestamp } from '../../../engine/registry/metadata';
import { CREATED_AT_TABLE } from '../../../engine/registry/object-table';
import type { Strategy, WriteInfo } from '../../../engine/registry/strategy';
import { statusSubresource, withStatus } from '../../../engine/registry/strategy';
import { keepBudgetWithin } from '../../../engine/request/value-budget';
import type { Kind } from '../kind';
import { forEachItem, immutable, optionalForm } from '../rules/primitives';
import { validateApproval } from './crd-approval';
import { validateConversion } from './crd-conversion';
import { withDefaultsInForm } from './crd-default-form';
import type { Demands } from './crd-demands';
import { demandsOf, hasDefault, hasSchemaWith, preservesUnknownFields } from './crd-demands';
import { INSTRUCTIONS_MAX } from './crd-structure';
import { shownVersion } from './crd-version-words';
import { validateCommonParts, validatePresence, validateVersions } from './crd-versions';

/** Field paths are those of upstream's internal form, which keeps what all versions share in one place. */
const customResourceDefinitionRules: Pick<
  Strategy<CustomResourceDefinition>,
  'prepareForCreate' | 'prepareForUpdate' | 'validateUpdate' | 'validateNew'
> = {
  prepareForCreate: (object) => withStorageVersion({ ...withDefaultsInForm(object), status: NEW_STATUS }),
  prepareForUpdate: (next) => withStorageVersion(withDefaultsInForm(next)),
  validateNew(object, info) {
    const { via } = info;
    const demands = demandsOf(object, info);
    return [
      ...nameOfPluralAndGroup(object),
      ...validateSpec(object.spec, demands, info),
      ...validateStatus(object, demands),
      ...(via.version === 'v1' ? validateApproval(object) : []),
      ...validatePruning(object.spec, demands),
    ];
  },
  validateUpdate(next, previous, info) {
    const { via } = info;
    const demands = demandsOf(next, info, previous);
    return [
      ...validateSpec(next.spec, demands, info),
      ...validateChange(next, previous),
      ...validateStatus(next, demands),
      ...(via.version === 'v1' ? validateApproval(next, previous) : []),
      ...validatePruning(next.spec, demands),
    ];
  },
};

/** Of a definition of which nothing is said yet. */
export const NEW_STATUS: CustomResourceDefinitionStatus = {
  conditions: null,
  acceptedNames: { plural: '', kind: '' },
  storedVersions: [],
};

function validateStatus(object: CustomResourceDefinition, demands: Demands): FieldError[] {
  return [...validateAcceptedNames(object), ...validateStoredVersions(object, demands)];
}

/** Validates the status, of the whole object and of the status subresource. */
function validateAcceptedNames({ status = NEW_STATUS }: CustomResourceDefinition): FieldError[] {
  return validateNames(status.acceptedNames, 'status.acceptedNames');
}

/** Every version that ever was the storage version is remembered, since objects may still be stored in it. */
function withStorageVersion(object: CustomResourceDefinition): CustomResourceDefinition {
  const { spec, status = NEW_STATUS } = object;
  const stored = status.storedVersions ?? [];
  const current = spec.versions?.find(({ storage }) => storage);
  if (current === undefined || stored.includes(current.name)) return object;
  return { ...object, status: { ...status, storedVersions: [...stored, current.name] } };
}

function nameOfPluralAndGroup({ metadata, spec }: CustomResourceDefinition): FieldError[] {
  const expected = `${spec.names.plural}.${spec.group}`;
  return (['generateName', 'name'] as const).flatMap((field) => {
    const { [field]: given = '' } = metadata;
    if (given === '' || given === expected) return [];
    return [invalid(`metadata.${field}`, given, 'must be spec.names.plural+"."+spec.group')];
  });
}

const SCOPES = ['Cluster', 'Namespaced'];
const NAMES = ['plural', 'singular', 'kind', 'listKind'] as const;

function validateSpec(
  spec: CustomResourceDefinitionSpec,
  demands: Demands,
  { bounds }: WriteInfo,
): FieldError[] {
  const { group, names, scope } = spec;
  const versions = validateVersions(spec, demands);
  const common = validateCommonParts(spec, demands);
  keepBudgetWithin(bounds, demands.values);
  return [
    ...validateGroup(group),
    ...(scope === '' ? [required('spec.scope')] : []),
    ...(scope === '' || SCOPES.includes(scope) ? [] : [notSupported('spec.scope', scope, SCOPES)]),
    ...validatePresence(spec, demands),
    ...(preservesUnknownFields(spec) && demands.defaults && hasSchemaWith(spec, hasDefault)
      ? [invalid('spec.preserveUnknownFields', true, 'must be false in order to use defaults in the schema')]
      : []),
    ...versions,
    ...NAMES.filter((field) => (names[field] ?? '') === '').map((field) => required(`spec.names.${field}`)),
    ...validateNames(names, 'spec.names'),
    ...common,
    ...validateConversion(spec, demands),
  ];
}

function validatePruning(spec: CustomResourceDefinitionSpec, { pruning }: Demands): FieldError[] {
  if (!pruning || !preservesUnknownFields(spec)) return [];
  const why = 'cannot set to true, set x-preserve-unknown-fields to true in spec.versions[*].schema instead';
  return [invalid('spec.preserveUnknownFields', true, why)];
}

function validateGroup(group: string): FieldError[] {
  const path = 'spec.group';
  if (group === '') return [required(path)];
  const problems = dns1123SubdomainProblems(group);
  if (problems.length > 0) return [invalid(path, group, problems.join(','))];
  return group.includes('.') ? [] : [invalid(path, group, 'should be a domain with at least one dot')];
}

function validateNames(names: CustomResourceDefinitionNames, path: string): FieldError[] {
  const { plural, singular, kind, listKind } = names;
  const exact = (name: string): readonly string[] => {
    const problems = dns1035LabelProblems(name);
    return problems.length === 0 ? [] : [problems.join(',')];
  };
  const lower = (name: string): readonly string[] =>
    exact(name.toLowerCase()).map((problem) => `may have mixed case, but should otherwise match: ${problem}`);
  const each = (field: 'shortNames' | 'categories'): FieldError[] =>
    forEachItem(names[field] ?? [], `${path}.${field}`, (name, at) =>
      exact(name).map((problem) => invalid(at, name, problem)),
    );
  return [
    ...optionalForm(plural, `${path}.plural`, exact),
    ...optionalForm(singular, `${path}.singular`, exact),
    ...optionalForm(kind, `${path}.kind`, lower),
    ...optionalForm(listKind, `${path}.listKind`, lower),
    ...each('shortNames'),
    ...(kind !== '' && kind === listKind
      ? [invalid(`${path}.listKind`, kind, 'kind and listKind may not be the same')]
      : []),
    ...each('categories'),
  ];
}

function validateStoredVersions(
  { spec, status }: CustomResourceDefinition,
  { inSpec }: Demands,
): FieldError[] {
  const path = 'status.storedVersions';
  const stored = status?.storedVersions ?? [];
  const versions = spec.versions ?? [];
  const names = new Set(versions.map(({ name }) => name));
  // As upstream, where the second of two versions of one name has none left.
  const unmatched = new Set(stored);
  if (stored.length === 0)
    return [invalid(path, goNoItems('string'), 'must have at least one stored version')];
  return [
    ...versions
      .filter(({ name, storage }) => !unmatched.delete(name) && storage)
      .map((version) =>
        invalid(path, shownVersion(version, inSpec), `must have the storage version ${version.name}`),
      ),
    ...forEachItem(stored, path, (name, at) =>
      names.has(name) ? [] : [invalid(at, name, 'must appear in spec.versions')],
    ),
  ];
}

/** The group and the plural are where objects are stored; once names are accepted, so are the kind and the scope. */
function validateChange(next: CustomResourceDefinition, previous: CustomResourceDefinition): FieldError[] {
  const { spec: after } = next;
  const { spec: before } = previous;
  const isEstablished = (previous.status?.conditions ?? []).some(
    ({ type, status }) => type === 'Established' && status === 'True',
  );
  return [
    ...(isEstablished
      ? [
          ...immutable(after.scope, before.scope, 'spec.scope'),
          ...immutable(after.names.kind, before.names.kind, 'spec.names.kind'),
        ]
      : []),
    ...immutable(after.group, before.group, 'spec.group'),
    ...immutable(after.names.plural, before.names.plural, 'spec.names.plural'),
  ];
}

const customResourceDefinitionStrategy: Strategy<CustomResourceDefinition> = {
  compat: {
    metadataChecks: 'no domains',
    refusesPreconditionsByResource: true,
    keyInErrors: `${GROUP.apiextensions}/customresourcedefinitions`,
  },
  ...customResourceDefinitionRules,
  prepareRules: (next, previous) =>
    warmPatterns(previous === undefined ? [next.spec] : [next.spec, previous.spec], 2 * INSTRUCTIONS_MAX),
  statusLeavesMetadata: true,
  tracksGeneration: true,
  requiresResourceVersion: true,
  beginDeletion: awaitCleanup,
  dropsUnstorable: withoutEmptyWebhook,
  subresources: {
    status: { ...statusSubresource, validateUpdate: (next) => validateAcceptedNames(next) },
    // Not for clients: the server removes a definition by it, also one that would be refused as a new one.
    cleanup: {
      prepareForUpdate: (next, previous) => withStatus({ ...previous, metadata: next.metadata }, next.status),
    },
  },
};

/** Drops a webhook without client config and review versions: the internal version of upstream cannot represent it. */
function withoutEmptyWebhook(object: CustomResourceDefinition): CustomResourceDefinition {
  const { spec } = object;
  const { webhook, ...conversion } = spec.conversion ?? NO_CONVERSION;
  if (webhook === undefined || isAsked(webhook)) return object;
  return { ...object, spec: { ...spec, conversion } };
}

const NO_CONVERSION: CustomResourceConversion = { strategy: 'None' };

function isAsked({ clientConfig, conversionReviewVersions }: WebhookConversion): boolean {
  return (clientConfig ?? null) !== null || (conversionReviewVersions ?? []).length > 0;
}

/** A definition goes when no object of its resource is left, which is seen to by the server. Source: the storage of v1.21. */
function awaitCleanup(object: CustomResourceDefinition, nowMs: number): CustomResourceDefinition {
  const { metadata } = object;
  const { finalizers = [] } = metadata;
  const marked: CustomResourceDefinition = {
    ...object,
    metadata: {
      ...metadata,
      deletionTimestamp: timestamp(nowMs),
      finalizers: finalizers.includes(FINALIZER.customResourceCleanup)
        ? finalizers
        : [...finalizers, FINALIZER.customResourceCleanup],
    },
  };
  return withCondition(
    marked,
    {
      type: 'Terminating',
      status: 'True',
      reason: 'InstanceDeletionPending',
      message: 'CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon',
    },
    nowMs,
  );
}

export const customResourceDefinitions: Kind<CustomResourceDefinition> = {
  strategy: customResourceDefinitionStrategy,
  table: CREATED_AT_TABLE,
};
