import type {
  CustomResourceDefinition,
  CustomResourceDefinitionSpec,
  CustomResourceDefinitionVersion,
} from '../../../../shared/api/types/apiextensions-v1beta1';
import type {
  CustomResourceDefinitionSpec as StoredSpec,
  CustomResourceDefinitionVersion as StoredVersion,
} from '../../../../shared/api/types/apiextensions-v1';
import { defined } from '../../../../shared/defined';
import type { FieldError } from '../../../../shared/errors/field-error';
import { forbiddenField, invalid } from '../../../../shared/errors/field-error';
import { deepEqual } from '../../../../shared/object/clone';
import type { WriteInfo } from '../../../engine/registry/strategy';
import { shownVersions } from './crd-version-words';

type Versions = readonly CustomResourceDefinitionVersion[];

/** What the spec calls a part for all versions. */
export type SharedName = 'validation' | 'subresources' | 'additionalPrinterColumns';

interface SharedPart {
  readonly shared: SharedName;
  /** In one version. */
  readonly own: 'schema' | 'subresources' | 'additionalPrinterColumns';
  readonly plural: string;
}

const PARTS: readonly SharedPart[] = [
  { shared: 'validation', own: 'schema', plural: 'schemas' },
  { shared: 'subresources', own: 'subresources', plural: 'subresources' },
  { shared: 'additionalPrinterColumns', own: 'additionalPrinterColumns', plural: 'additionalPrinterColumns' },
];

/**
 * Parts that a definition of apiextensions/v1beta1 sets twice: a part can be in the spec for all versions, or in each version, and
 * the first version has a second name. In v1, in which definitions are stored, none of this can be seen any more.
 */
export function sharedProblems({ via, sent }: Pick<WriteInfo, 'via' | 'sent'>): SharedProblems {
  if (via.version !== 'v1beta1' || sent === undefined) return NO_PROBLEMS;
  const { spec } = sent as CustomResourceDefinition;
  const { versions = [], version = '' } = spec;
  const twice = PARTS.flatMap((part) => saidTwice(spec, versions, part));
  return {
    parts: [...twice, ...PARTS.flatMap((part) => saidForEach(versions, part))],
    version: otherFirstVersion(spec, versions),
    ...(version === '' ? {} : { firstName: version }),
    ...(twice.length === 0 ? {} : { asSent: partsAsSent(spec, versions) }),
  };
}

export interface SharedProblems {
  readonly parts: readonly FieldError[];
  /** Those of the second name of the first version. */
  readonly version: readonly FieldError[];
  /** That name; undefined where it is not said. */
  readonly firstName?: string;
  /** All parts where they were said, if one of them was said twice: the stored form has no room for both. */
  readonly asSent?: PartsAsSent;
}

export interface PartsAsSent {
  readonly versions: readonly StoredVersion[];
  /** A version with the parts of the spec. */
  readonly common: StoredVersion;
}

const NO_PROBLEMS: SharedProblems = { parts: [], version: [] };

function partsAsSent(spec: CustomResourceDefinitionSpec, versions: Versions): PartsAsSent {
  const { validation, subresources, additionalPrinterColumns } = spec;
  const common = { ...defined({ schema: validation, subresources, additionalPrinterColumns }) };
  return {
    versions: versions.map(inNewerVersion),
    common: inNewerVersion({ name: '', served: true, storage: false, ...common }),
  };
}

/** A version in the spelling of apiextensions/v1. */
function inNewerVersion(version: CustomResourceDefinitionVersion): StoredVersion {
  const { additionalPrinterColumns: columns, ...rest } = version;
  if (columns === undefined || columns === null) return rest;
  const renamed = columns.map(({ JSONPath: jsonPath, ...column }) => ({ ...column, jsonPath }));
  return { ...rest, additionalPrinterColumns: renamed };
}

/** Whether errors of a part name the spec instead of each version. */
export type IsInSpec = (shared: SharedName) => boolean;

/** The parts in the spec of a definition as it was sent; in v1, which has none there, the parts that all versions share. */
export function partsInSpec(
  { versions }: StoredSpec,
  { via, sent }: Pick<WriteInfo, 'via' | 'sent'>,
): IsInSpec {
  const isSaid =
    via.version === 'v1beta1' && sent !== undefined
      ? ({ shared }: SharedPart) => !isMissing((sent as CustomResourceDefinition).spec[shared])
      : ({ own }: SharedPart) =>
          versions?.every((each) => deepEqual(each[own], versions[0]?.[own])) !== false;
  const places = new Set(PARTS.filter(isSaid).map(({ shared }) => shared));
  return (shared) => places.has(shared);
}

function saidTwice(
  spec: CustomResourceDefinitionSpec,
  versions: Versions,
  { shared, own, plural }: SharedPart,
): readonly FieldError[] {
  if (isMissing(spec[shared]) || versions.every((version) => isMissing(version[own]))) return [];
  return [forbiddenField(`spec.${shared}`, `top-level and per-version ${plural} are mutually exclusive`)];
}

function saidForEach(versions: Versions, { shared, own, plural }: SharedPart): readonly FieldError[] {
  const [first] = versions;
  if (first === undefined) return [];
  const isSame = versions.every((version) => !isMissing(version[own]) && deepEqual(version[own], first[own]));
  if (!isSame) return [];
  const why = `per-version ${plural} may not all be set to identical values (top-level ${shared} should be used instead)`;
  return [
    invalid(
      'spec.versions',
      shownVersions(versions.map(inNewerVersion), () => false),
      why,
    ),
  ];
}

function otherFirstVersion(
  { version: name = '' }: CustomResourceDefinitionSpec,
  versions: Versions,
): readonly FieldError[] {
  const [first] = versions;
  if (name === '' || first === undefined || first.name === name) return [];
  return [invalid('spec.version', name, 'must match the first version in spec.versions')];
}

/** An empty list is as good as none, an empty message is not. */
function isMissing(value: unknown): boolean {
  return value === undefined || value === null || (Array.isArray(value) && value.length === 0);
}
