import { isInForce } from '../../../shared/api/changes';
import { GROUP } from '../../../shared/names';
import { badRequest } from '../../../shared/errors/status-error';
import { invalidObject, notSupported } from '../../../shared/errors/field-error';
import { repeatedKeys } from '../../../shared/meta/repeated-keys';
import { duplicateYamlKeys } from '../encoding/yaml';
import type { Exchange } from '../request/exchange';
import { ownKeyMap } from '../../../shared/own-key-map';
import { isJsonObject } from '../../../shared/object/clone';
import type { ApiObject } from '../../../shared/object/object';
import { DecodeError, decodeObject } from '../../../shared/schema/decode';
import { messageType } from '../../../shared/schema/types';
import { prune } from '../../../shared/structural/prune';
import type { StructuralSchema } from '../../../shared/structural/structural-schema';
import type { Endpoint } from '../registry/resource';

/** The default of the parameter `fieldValidation`. */
const DEFAULT_MODE = isInForce('unknownFieldsWarn') ? 'Warn' : 'Ignore';

const MODES = ['Ignore', 'Warn', 'Strict'] as const;

/** Reports all problems of one document, each as a sentence: refuses the request or adds warnings. */
export type ReportProblems = (problems: readonly string[]) => void;

/** The options kind of a method, for error messages. */
const OPTIONS = ownKeyMap<string>({
  POST: 'CreateOptions',
  PUT: 'UpdateOptions',
  PATCH: 'PatchOptions',
});

/**
 * Parses `fieldValidation`, for unknown and duplicate fields: undefined for `Ignore`, the default of older API levels. `Warn`
 * lists them in Warning headers, `Strict` responds with BadRequest. Throws Invalid for another value.
 */
export function fieldValidationOf({ query, warnings, method }: Exchange): ReportProblems | undefined {
  const given = query.get('fieldValidation') ?? '';
  const mode = given === '' ? DEFAULT_MODE : given;
  if (mode === 'Ignore') return undefined;
  if (mode === 'Warn') {
    // A patch that is retried would repeat its warnings.
    return (problems) => warnings.push(...problems.filter((each) => !warnings.includes(each)));
  }
  if (mode === 'Strict') {
    return (problems) => {
      if (problems.length > 0) throw badRequest(`strict decoding error: ${problems.join(', ')}`);
    };
  }
  const error = notSupported('fieldValidation', mode, MODES);
  throw invalidObject({ group: GROUP.meta, kind: OPTIONS.get(method) ?? 'CreateOptions' }, '', [error]);
}

/** The same reporter, which also reports duplicate keys of the document; the document must be valid. */
export function reportingDuplicates(
  report: ReportProblems | undefined,
  bytes: Buffer,
  syntax: 'json' | 'yaml',
): ReportProblems | undefined {
  if (report === undefined) return undefined;
  const duplicates =
    syntax === 'json' ? repeatedKeys(bytes.toString('utf8'), DUPLICATES_MAX) : duplicateYamlKeys(bytes);
  // Upstream finds the duplicates of YAML before it decodes, and those of JSON while it does.
  const found = duplicates.map(duplicateField);
  return (problems) => report(syntax === 'yaml' ? [...found, ...problems] : [...problems, ...found]);
}

export function unknownFieldProblems(paths: readonly string[]): readonly string[] {
  return paths.map((path) => `unknown field ${JSON.stringify(path)}`);
}

/** Maximum number of duplicate keys that are listed. */
const DUPLICATES_MAX = 100;

function duplicateField(path: string): string {
  return `duplicate field ${JSON.stringify(path)}`;
}

/** Paths of the fields that are pruned from a decoded custom resource. Empty for any other kind. */
export function droppedFields({ custom }: Pick<Endpoint, 'custom'>, object: ApiObject): readonly string[] {
  if (custom?.schema === undefined) return [];
  const { schema } = custom;
  const { object: known, pruned } = prune(schema, { ...object });
  return [...pruned, ...embeddedFields(schema, known, '')];
}

/** Paths of unknown fields in the metadata of embedded objects. */
function embeddedFields(
  schema: StructuralSchema | undefined,
  value: unknown,
  path: string,
): readonly string[] {
  if (schema?.hasEmbedded !== true) return [];
  if (Array.isArray(value)) {
    return value.flatMap((each, index) => embeddedFields(schema.items, each, `${path}[${String(index)}]`));
  }
  if (!isJsonObject(value)) return [];
  const { additionalProperties: more } = schema;
  const inner = Object.entries(value).flatMap(([name, each]) => {
    const declared = schema.properties.get(name) ?? (typeof more === 'object' ? more : undefined);
    return embeddedFields(declared, each, path === '' ? name : `${path}.${name}`);
  });
  return schema.isEmbedded ? [...metadataFields(value['metadata'], `${path}.metadata`), ...inner] : inner;
}

/** Metadata of a wrong type has another error. */
function metadataFields(metadata: unknown, path: string): readonly string[] {
  if (!isJsonObject(metadata)) return [];
  try {
    const { unknownFields } = decodeObject(messageType('meta/v1.ObjectMeta'), metadata, {
      unknown: 'report',
    });
    return unknownFields.map((name) => `${path}.${name}`);
  } catch (error) {
    if (error instanceof DecodeError) return [];
    throw error;
  }
}
