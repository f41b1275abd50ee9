import type {
  CustomResourceColumnDefinition,
  CustomResourceDefinitionSpec,
  CustomResourceDefinitionVersion,
  CustomResourceSubresourceScale,
} from '../../../../shared/api/types/apiextensions-v1';
import type { FieldError } from '../../../../shared/errors/field-error';
import { invalid, required } from '../../../../shared/errors/field-error';
import { goNoItems } from '../../../../shared/errors/go-values';
import { dns1035LabelProblems } from '../../../../shared/meta/dns-names';
import type { Demands } from './crd-demands';
import { schemaOf } from './crd-demands';
import type { SharedName } from './crd-shared-parts';
import { validateSchema } from './crd-schemas';
import { validateSelectableFields } from './crd-selectable-fields';
import { shownVersions } from './crd-version-words';
import { forEachItem } from '../rules/primitives';

const WARNING_BYTES_MAX = 256;

/** Checks that versions have a schema where one is required. */
export function validatePresence(spec: CustomResourceDefinitionSpec, demands: Demands): FieldError[] {
  const isPruned = spec.preserveUnknownFields !== true;
  const { asSent } = demands.shared;
  if (asSent !== undefined && schemaOf(asSent.common) !== undefined) return [];
  return forEachItem(asSent?.versions ?? spec.versions ?? [], 'spec.versions', (version, path) =>
    missingSchema(version, path, { demands, isPruned }),
  );
}

/** The versions of a kind, but for what all of them share. */
export function validateVersions(spec: CustomResourceDefinitionSpec, demands: Demands): FieldError[] {
  const versions = spec.versions ?? [];
  const names = versions.map(({ name }) => name);
  const storageCount = versions.filter(({ storage }) => storage).length;
  const [first = ''] = names;
  const { asSent, firstName = first } = demands.shared;
  const parts = asSent === undefined ? PARTS.filter(({ shared }) => !demands.inSpec(shared)) : PARTS;
  return [
    ...forEachItem(asSent?.versions ?? versions, 'spec.versions', (version, path) => [
      ...validateVersion(version, path),
      ...validateSelectableFields(version, `${path}.selectableFields`),
      ...parts.flatMap(({ field, rule }) =>
        rule(version, `${path}.${field}`, { demands, hasStatus: hasStatus(version) }),
      ),
    ]),
    ...demands.shared.parts,
    ...(new Set(names).size < names.length
      ? [
          invalid(
            'spec.versions',
            shownVersions(versions, demands.inSpec),
            'must contain unique version names',
          ),
        ]
      : []),
    ...(storageCount === 1
      ? []
      : [
          invalid(
            'spec.versions',
            versions.length === 0 && !demands.listsVersions
              ? goNoItems('apiextensions.CustomResourceDefinitionVersion')
              : shownVersions(versions, demands.inSpec),
            'must have exactly one version marked as storage version',
          ),
        ]),
    ...(firstName === '' ? [] : labelForm(firstName, 'spec.version')),
    ...demands.shared.version,
  ];
}

/** Parts that all versions share are validated once, at the path of the spec. */
export function validateCommonParts(
  { versions }: CustomResourceDefinitionSpec,
  demands: Demands,
): FieldError[] {
  const { asSent } = demands.shared;
  const all = asSent === undefined ? (versions ?? []) : [asSent.common, ...asSent.versions];
  const [first] = all;
  if (first === undefined) return [];
  return PARTS.filter(({ shared }) => demands.inSpec(shared)).flatMap(({ shared, rule }) =>
    rule(first, `spec.${shared}`, { demands, hasStatus: all.some(hasStatus) }),
  );
}

function missingSchema(
  version: CustomResourceDefinitionVersion,
  path: string,
  { demands, isPruned }: { readonly demands: Demands; readonly isPruned: boolean },
): FieldError[] {
  const field = `${path}.schema.openAPIV3Schema`;
  if (schemaOf(version) !== undefined) return [];
  if (demands.schemas) return [required(field, 'schemas are required')];
  return isPruned && version.served ? [required(field, 'because otherwise all fields are pruned')] : [];
}

function validateVersion(
  { name, deprecated = false, deprecationWarning: warning }: CustomResourceDefinitionVersion,
  path: string,
): FieldError[] {
  return [
    ...labelForm(name, `${path}.name`),
    ...(warning === undefined
      ? []
      : warningProblems(warning, deprecated).map((problem) =>
          invalid(`${path}.deprecationWarning`, warning, problem),
        )),
  ];
}

function labelForm(name: string, path: string): FieldError[] {
  const problems = dns1035LabelProblems(name);
  return problems.length === 0 ? [] : [invalid(path, name, problems.join(','))];
}

function warningProblems(warning: string, isDeprecated: boolean): readonly string[] {
  if (!isDeprecated) return ['can only be set for deprecated versions'];
  return [
    ...(Buffer.byteLength(warning) > WARNING_BYTES_MAX
      ? [`must be <= ${String(WARNING_BYTES_MAX)} characters long`]
      : []),
    ...(warning === '' ? ['must not be an empty string'] : []),
    ...unprintable(warning),
  ];
}

/** The first character that Go would not print. Its index counts bytes. */
function unprintable(warning: string): readonly string[] {
  const index = warning.search(/[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/u);
  if (index === -1) return [];
  const at = Buffer.byteLength(warning.slice(0, index));
  return [
    `must only contain printable UTF-8 characters; non-printable character found at index ${String(at)}`,
  ];
}

interface Part {
  readonly field: 'schema' | 'subresources' | 'additionalPrinterColumns';
  /** The path of the part in the spec when all versions share it. */
  readonly shared: SharedName;
  readonly rule: (
    version: CustomResourceDefinitionVersion,
    path: string,
    place: { readonly demands: Demands; readonly hasStatus: boolean },
  ) => readonly FieldError[];
}

function hasStatus({ subresources }: CustomResourceDefinitionVersion): boolean {
  return subresources?.status !== undefined;
}

const PARTS: readonly Part[] = [
  {
    field: 'schema',
    shared: 'validation',
    rule: (version, path, place) => {
      const schema = schemaOf(version);
      if (schema === undefined) return [];
      const isUnchanged = place.demands.rules?.hadSchema(version) === true;
      return validateSchema(schema, `${path}.openAPIV3Schema`, { ...place, isUnchanged });
    },
  },
  {
    field: 'subresources',
    shared: 'subresources',
    rule: (version, path) => validateScale(version.subresources?.scale, `${path}.scale`),
  },
  {
    field: 'additionalPrinterColumns',
    shared: 'additionalPrinterColumns',
    rule: (version, path) => forEachItem(version.additionalPrinterColumns ?? [], path, validateColumn),
  },
];

function validateScale(scale: CustomResourceSubresourceScale | undefined, path: string): FieldError[] {
  if (scale === undefined) return [];
  const { labelSelectorPath: selector = '' } = scale;
  return [
    ...replicasPath(scale, 'spec', path),
    ...replicasPath(scale, 'status', path),
    ...(selector === ''
      ? []
      : pathUnder(selector, `${path}.labelSelectorPath`, {
          parts: ['spec', 'status'],
          where: 'either .spec or .status',
        })),
  ];
}

function replicasPath(
  scale: CustomResourceSubresourceScale,
  part: 'spec' | 'status',
  path: string,
): FieldError[] {
  const field = `${part}ReplicasPath` as const;
  const { [field]: value } = scale;
  if (value === '') return [required(`${path}.${field}`)];
  return pathUnder(value, `${path}.${field}`, { parts: [part], where: `.${part}` });
}

function pathUnder(
  value: string,
  path: string,
  { parts, where }: { readonly parts: readonly string[]; readonly where: string },
): FieldError[] {
  const wrong = notSimple(value, path);
  if (wrong.length > 0 || parts.some((part) => value.startsWith(`.${part}.`))) return wrong;
  return [invalid(path, value, `should be a json path under ${where}`)];
}

/** As upstream, only the beginning of a path is validated here. */
function notSimple(value: string, path: string): FieldError[] {
  return value.startsWith('.') ? [] : [invalid(path, value, 'must be a simple json path starting with .')];
}

const COLUMN_TYPES = ['boolean', 'date', 'integer', 'number', 'string'];
const COLUMN_FORMATS = ['byte', 'date', 'date-time', 'double', 'float', 'int32', 'int64', 'password'];

/** The spelling JSONPath is that of the older version. */
function validateColumn(column: CustomResourceColumnDefinition, path: string): FieldError[] {
  const { name, type, format = '', jsonPath } = column;
  return [
    ...(name === '' ? [required(`${path}.name`)] : []),
    ...(type === '' ? [required(`${path}.type`, `must be one of ${COLUMN_TYPES.join(',')}`)] : []),
    ...(type === '' || COLUMN_TYPES.includes(type)
      ? []
      : [invalid(`${path}.type`, type, `must be one of ${COLUMN_TYPES.join(',')}`)]),
    ...(format === '' || COLUMN_FORMATS.includes(format)
      ? []
      : [invalid(`${path}.format`, format, `must be one of ${COLUMN_FORMATS.join(',')}`)]),
    ...(jsonPath === '' ? [required(`${path}.JSONPath`)] : []),
    ...(jsonPath === '' ? [] : notSimple(jsonPath, `${path}.JSONPath`)),
  ];
}
