import type { FieldError } from '../../../shared/errors/field-error';
import { invalid, required } from '../../../shared/errors/field-error';
import { deepEqual } from '../../../shared/meta/clone';
import { dns1035LabelProblems } from '../../../shared/meta/dns-names';
import type { Json } from './accessors';
import { optionalRecord, optionalText, record, records, text } from './accessors';
import type { Demands } from './crd-demands';
import { schemaOf } from './crd-demands';
import { validateSchema } from './crd-schemas';
import { forEachItem } from './primitives';

const WARNING_CHARS_MAX = 256;

/** The versions of a kind. What all of them share is told once, as a part of the spec. */
export function validateVersions(spec: Json, demands: Demands): FieldError[] {
  const versions = records(spec['versions']);
  const names = versions.map((version) => text(version['name']));
  const storageCount = versions.filter((version) => version['storage'] === true).length;
  const [first = ''] = names;
  return [
    ...forEachItem(versions, 'spec.versions', (version, path) => [
      ...missingSchema(version, path, { demands, isPruned: spec['preserveUnknownFields'] !== true }),
      ...validateVersion(version, path),
    ]),
    ...(new Set(names).size < names.length
      ? [invalid('spec.versions', versions, 'must contain unique version names')]
      : []),
    ...(storageCount === 1
      ? []
      : [invalid('spec.versions', versions, 'must have exactly one version marked as storage version')]),
    ...(first === '' || dns1035LabelProblems(first).length === 0
      ? []
      : [invalid('spec.version', first, 'must be a DNS-1035 label')]),
    ...PARTS.flatMap((part) => validatePart(versions, part, demands)),
  ];
}

function missingSchema(
  version: Json,
  path: string,
  { demands, isPruned }: { readonly demands: Demands; readonly isPruned: boolean },
): FieldError[] {
  const field = `${path}.schema.openAPIV3Schema`;
  if (schemaOf(version) !== undefined) return [];
  if (demands.schemas) return [required(field, 'schemas are required')];
  return isPruned && version['served'] === true
    ? [required(field, 'because otherwise all fields are pruned')]
    : [];
}

function validateVersion(version: Json, path: string): FieldError[] {
  const name = text(version['name']);
  const warning = optionalText(version['deprecationWarning']);
  return [
    ...(dns1035LabelProblems(name).length === 0
      ? []
      : [invalid(`${path}.name`, name, 'must be a DNS-1035 label')]),
    ...(warning === undefined
      ? []
      : warningProblems(warning, version['deprecated'] === true).map((problem) =>
          invalid(`${path}.deprecationWarning`, warning, problem),
        )),
  ];
}

function warningProblems(warning: string, isDeprecated: boolean): readonly string[] {
  return [
    ...(isDeprecated ? [] : ['can only be set for deprecated versions']),
    ...(warning === '' ? ['must not be empty'] : []),
    ...(Array.from(warning).length > WARNING_CHARS_MAX
      ? [`must be <= ${String(WARNING_CHARS_MAX)} characters long`]
      : []),
    ...(/\p{C}/u.test(warning) ? ['must only contain printable characters'] : []),
  ];
}

interface Part {
  readonly field: string;
  /** Where the part stands in the spec when all versions share it. */
  readonly shared: string;
  readonly rule: (version: Json, path: string, demands: Demands) => readonly FieldError[];
}

const PARTS: readonly Part[] = [
  {
    field: 'schema',
    shared: 'spec.validation',
    rule: (version, path, demands) => {
      const schema = schemaOf(version);
      const hasStatus = optionalRecord(record(version['subresources'])['status']) !== undefined;
      return schema === undefined
        ? []
        : validateSchema(schema, `${path}.openAPIV3Schema`, { hasStatus, demands });
    },
  },
  {
    field: 'subresources',
    shared: 'spec.subresources',
    rule: (version, path) => validateScale(record(version['subresources']), `${path}.scale`),
  },
  {
    field: 'additionalPrinterColumns',
    shared: 'spec.additionalPrinterColumns',
    rule: (version, path) => forEachItem(records(version['additionalPrinterColumns']), path, validateColumn),
  },
];

function validatePart(
  versions: readonly Json[],
  { field, shared, rule }: Part,
  demands: Demands,
): readonly FieldError[] {
  const [first] = versions;
  if (first === undefined) return [];
  const isShared = versions.every((version) => deepEqual(version[field], first[field]));
  return isShared
    ? rule(first, shared, demands)
    : forEachItem(versions, 'spec.versions', (version, path) => rule(version, `${path}.${field}`, demands));
}

function validateScale(subresources: Json, path: string): FieldError[] {
  const scale = optionalRecord(subresources['scale']);
  if (scale === undefined) return [];
  const selector = text(scale['labelSelectorPath']);
  return [
    ...replicasPath(scale, 'spec', path),
    ...replicasPath(scale, 'status', path),
    ...(selector === '' || pathIsUnder(selector, ['spec', 'status'])
      ? []
      : [
          invalid(
            `${path}.labelSelectorPath`,
            selector,
            'should be a json path under either .spec or .status',
          ),
        ]),
  ];
}

function replicasPath(scale: Json, part: 'spec' | 'status', path: string): FieldError[] {
  const field = `${part}ReplicasPath`;
  const value = text(scale[field]);
  if (value === '') return [required(`${path}.${field}`)];
  return pathIsUnder(value, [part])
    ? []
    : [invalid(`${path}.${field}`, value, `should be a json path under .${part}`)];
}

function pathIsUnder(value: string, parts: readonly string[]): boolean {
  return isSimpleJsonPath(value) && parts.some((part) => value.startsWith(`.${part}.`));
}

/** `.a.b[0]`, without a filter that would have to be parsed as an expression of its own. */
function isSimpleJsonPath(value: string): boolean {
  return /^\.(?:[^[\]'"()]|\[[^[\]]+\]|\[\?\(.*\)\])*$/.test(value);
}

const COLUMN_TYPES = ['boolean', 'date', 'integer', 'number', 'string'];
const COLUMN_FORMATS = ['byte', 'date', 'date-time', 'double', 'float', 'int32', 'int64', 'password'];

/** The spelling JSONPath is that of the older version. */
function validateColumn(column: Json, path: string): FieldError[] {
  const type = text(column['type']);
  const format = text(column['format']);
  const jsonPath = text(column['jsonPath']);
  return [
    ...(text(column['name']) === '' ? [required(`${path}.name`)] : []),
    ...(type === '' ? [required(`${path}.type`)] : []),
    ...(type === '' || COLUMN_TYPES.includes(type)
      ? []
      : [invalid(`${path}.type`, type, `must be one of ${COLUMN_TYPES.join(',')}`)]),
    ...(format === '' || COLUMN_FORMATS.includes(format)
      ? []
      : [invalid(`${path}.format`, format, `must be one of ${COLUMN_FORMATS.join(',')}`)]),
    ...(jsonPath === '' ? [required(`${path}.JSONPath`)] : []),
    ...(jsonPath === '' || isSimpleJsonPath(jsonPath)
      ? []
      : [invalid(`${path}.JSONPath`, jsonPath, 'must be a simple json path starting with .')]),
  ];
}
