import type {
  CustomResourceColumnDefinition,
  CustomResourceDefinitionVersion,
} from '../../../../shared/api/types/apiextensions-v1';
import { goQuote } from '../../../../shared/errors/go-quote';
import type { GoValue } from '../../../../shared/errors/go-values';
import { goStruct, goStructs } from '../../../../shared/errors/go-values';
import type { IsInSpec } from './crd-shared-parts';

type Version = CustomResourceDefinitionVersion;

const VERSION = 'apiextensions.CustomResourceDefinitionVersion';
const COLUMN = 'apiextensions.CustomResourceColumnDefinition';

/**
 * Versions as upstream's internal form shows them: values that the spec sets for all versions are in none of them. What it shows as an address in memory
 * makes all of them JSON.
 */
export function shownVersions(versions: readonly Version[], inSpec: IsInSpec): GoValue | readonly Version[] {
  const written = versions.map((version) => goVersion(version, inSpec));
  return written.every((each) => each !== undefined) ? goStructs(VERSION, written) : versions;
}

/** The same of one. */
export function shownVersion(version: Version, inSpec: IsInSpec): GoValue | Version {
  return goVersion(version, inSpec) ?? version;
}

function goVersion(version: Version, inSpec: IsInSpec): GoValue | undefined {
  const { name, served, storage, deprecated = false, deprecationWarning } = version;
  const { schema, subresources, additionalPrinterColumns: columns } = version;
  const isPointed =
    deprecationWarning !== undefined ||
    (!inSpec('validation') && (schema ?? undefined) !== undefined) ||
    (!inSpec('subresources') && (subresources ?? undefined) !== undefined);
  if (isPointed) return undefined;
  return goStruct(VERSION, {
    Name: goQuote(name),
    Served: String(served),
    Storage: String(storage),
    Deprecated: String(deprecated),
    DeprecationWarning: '(*string)(nil)',
    Schema: '(*apiextensions.CustomResourceValidation)(nil)',
    Subresources: '(*apiextensions.CustomResourceSubresources)(nil)',
    AdditionalPrinterColumns: goColumns(inSpec('additionalPrinterColumns') ? [] : (columns ?? [])),
  });
}

function goColumns(columns: readonly CustomResourceColumnDefinition[]): string {
  if (columns.length === 0) return `[]${COLUMN}(nil)`;
  return goStructs(COLUMN, columns.map(goColumn)).toString();
}

function goColumn(column: CustomResourceColumnDefinition): GoValue {
  const { name, type, format = '', description = '', priority = 0, jsonPath } = column;
  return goStruct(COLUMN, {
    Name: goQuote(name),
    Type: goQuote(type),
    Format: goQuote(format),
    Description: goQuote(description),
    Priority: String(priority),
    JSONPath: goQuote(jsonPath),
  });
}
