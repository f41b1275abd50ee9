import type {
  CustomResourceDefinition,
  CustomResourceDefinitionSpec,
  CustomResourceDefinitionVersion,
  JSONSchemaProps,
} from '../../../../shared/api/types/apiextensions-v1';
import type { Budget } from '../../../../shared/structural/budget';
import { valueBudget } from '../../../engine/request/value-budget';
import type { WriteInfo } from '../../../engine/registry/strategy';
import type { RuleDemands } from './crd-rules';
import { ruleDemands } from './crd-rules';
import { childrenOf, SCHEMA_TYPES } from './crd-schemas';
import type { PatternBudget } from './crd-structure';
import { newPatternBudget, validateStructure } from './crd-structure';
import type { IsInSpec, SharedProblems } from './crd-shared-parts';
import { partsInSpec, sharedProblems } from './crd-shared-parts';

/** Requirements of a definition that depend on the write: new definitions and those sent in v1 have more of them. */
export interface Demands {
  /** Unknown fields must be pruned. */
  readonly pruning: boolean;
  /** Every version must have a schema; else only the served ones of a kind that prunes. */
  readonly schemas: boolean;
  /** Schemas must be structural. */
  readonly structure: boolean;
  /** Types must be those of OpenAPI. */
  readonly types: boolean;
  /** Schemas may have defaults. */
  readonly defaults: boolean;
  /** A conversion webhook must be asked in a version that the server speaks. */
  readonly reviewVersion: boolean;
  /** Parts that are validated at the path of the spec: in v1beta1 those the client sent there, in v1 those that all versions share. */
  readonly inSpec: IsInSpec;
  /** What is wrong with saying parts for all versions, which only the version of the request shows. */
  readonly shared: SharedProblems;
  /** A list of versions was sent, if only an empty one. */
  readonly listsVersions: boolean;
  /** What the patterns of all versions together have taken. */
  readonly patterns: PatternBudget;
  /** What comparing the defaults of all versions with their schemas may take. */
  readonly values: Budget;
  /** What validation rules must fulfil; undefined where the level has none. */
  readonly rules: RuleDemands | undefined;
}

/** What older clients stored is not asked more of than they were; `previous` is absent for a new definition. */
export function demandsOf(
  { spec }: CustomResourceDefinition,
  info: Pick<WriteInfo, 'via' | 'sent' | 'bounds'>,
  previous?: CustomResourceDefinition,
): Demands {
  const { via, bounds } = info;
  const isNewer = via.version !== 'v1beta1';
  const before = previous?.spec;
  const keepsUnknown = preservesUnknownFields(spec);
  const hadDefaults = before !== undefined && hasSchemaWith(before, hasDefault);
  const defaults = isNewer || hadDefaults;
  const wasStructural = before === undefined || isStructural(before);
  const shared = sharedProblems(info);
  const said = withPartsAsSent(spec, shared);
  return {
    pruning: isNewer && !(before !== undefined && preservesUnknownFields(before)),
    schemas: isNewer && (before === undefined || (before.versions ?? []).every(hasSchema)),
    structure:
      (isNewer && wasStructural) ||
      !keepsUnknown ||
      (defaults && hasSchemaWith(said, hasDefault)) ||
      hasSchemaWith(said, hasExtension),
    types: isNewer && !(before !== undefined && hasSchemaWith(before, hasOddType)),
    defaults,
    reviewVersion: before === undefined || isReviewVersionKnown(before),
    inSpec: partsInSpec(spec, info),
    shared,
    listsVersions: listsVersions(info),
    patterns: newPatternBudget(),
    values: valueBudget(bounds),
    rules: ruleDemands(previous, bounds),
  };
}

/** All schemas of a definition, also where the stored form has no room for them. */
function withPartsAsSent(
  spec: CustomResourceDefinitionSpec,
  { asSent }: SharedProblems,
): CustomResourceDefinitionSpec {
  return asSent === undefined ? spec : { ...spec, versions: [asSent.common, ...asSent.versions] };
}

function listsVersions({ sent }: Pick<WriteInfo, 'sent'>): boolean {
  return sent !== undefined && Array.isArray((sent as CustomResourceDefinition).spec.versions);
}

/** The versions of reviews that a conversion webhook can be sent. */
export const REVIEW_VERSIONS: readonly string[] = ['v1', 'v1beta1'];

export function preservesUnknownFields(spec: CustomResourceDefinitionSpec): boolean {
  return spec.preserveUnknownFields === true;
}

/** The schema of one version, or undefined. */
export function schemaOf({ schema }: CustomResourceDefinitionVersion): JSONSchemaProps | undefined {
  return schema?.openAPIV3Schema;
}

/** Whether a schema, or one inside it, fulfils the condition. */
export function hasSchemaWith(
  { versions }: CustomResourceDefinitionSpec,
  condition: (schema: JSONSchemaProps) => boolean,
): boolean {
  const holds = (schema: JSONSchemaProps): boolean =>
    condition(schema) || childrenOf(schema, '').some(([child]) => holds(child));
  return (versions ?? []).some((version) => {
    const schema = schemaOf(version);
    return schema !== undefined && holds(schema);
  });
}

export function hasDefault(schema: JSONSchemaProps): boolean {
  return schema.default !== undefined && schema.default !== null;
}

export function isEmbedded(schema: JSONSchemaProps): boolean {
  return schema['x-kubernetes-embedded-resource'] === true;
}

function hasExtension(schema: JSONSchemaProps): boolean {
  return (
    isEmbedded(schema) ||
    schema['x-kubernetes-int-or-string'] === true ||
    schema['x-kubernetes-preserve-unknown-fields'] !== undefined ||
    (schema['x-kubernetes-list-map-keys'] ?? []).length > 0 ||
    (schema['x-kubernetes-list-type'] ?? undefined) !== undefined ||
    (schema['x-kubernetes-validations'] ?? []).length > 0
  );
}

function hasOddType({ type = '' }: JSONSchemaProps): boolean {
  return type !== '' && !SCHEMA_TYPES.includes(type);
}

function hasSchema(version: CustomResourceDefinitionVersion): boolean {
  return schemaOf(version) !== undefined;
}

function isStructural({ versions }: CustomResourceDefinitionSpec): boolean {
  const patterns = newPatternBudget();
  return (versions ?? []).every((version) => {
    const schema = schemaOf(version);
    return schema === undefined || validateStructure(schema, '', patterns).length === 0;
  });
}

function isReviewVersionKnown({ conversion }: CustomResourceDefinitionSpec): boolean {
  const given = conversion?.webhook?.conversionReviewVersions ?? [];
  return given.length === 0 || given.some((version) => REVIEW_VERSIONS.includes(version));
}
