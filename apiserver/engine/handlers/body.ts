import { MEDIA_TYPE } from '../../../shared/names';
import { invalid, invalidObject } from '../../../shared/errors/field-error';
import { goQuote } from '../../../shared/errors/go-quote';
import { parseGroupVersion } from '../../../shared/api/resources';
import { STEP_TIMES } from '../../../shared/concurrency/long-steps';
import { Pace } from '../../../shared/concurrency/pace';
import type { StatusError } from '../../../shared/errors/status-error';
import { badRequest } from '../../../shared/errors/status-error';
import type { ApiObject } from '../../../shared/object/object';
import { DecodeError, decodeObject, unexpectedType } from '../../../shared/schema/decode';
import { encodeObject } from '../../../shared/schema/encode';
import type { ExpectedObject, ParsedBody } from '../encoding/request-body';
import { bodyMediaType, parseBody, summaryOf } from '../encoding/request-body';
import type { Exchange } from '../request/exchange';
import type { BodySyntax } from '../request/loop-bounds';
import { keepBodyWithin, keepJsonWithin, keepValuesWithin } from '../request/loop-bounds';
import type { Endpoint } from '../registry/resource';
import { getOwn, isJsonObject } from '../../../shared/object/clone';
import { record, text } from '../../../shared/object/accessors';
import { withDistinctOwners } from '../registry/distinct-owners';
import type { ReportProblems } from './field-validation';
import {
  fieldValidationOf,
  reportingDuplicates,
  unknownFieldProblems,
  droppedFields,
} from './field-validation';

/**
 * Reads the object in the body of a request (JSON, YAML or Protobuf), checks its kind and version, and
 * brings it into canonical form. Throws UnsupportedMediaType (415), and BadRequest for malformed bytes,
 * another kind or version, and fields of a wrong type.
 */
export async function readBodyObject(exchange: Exchange, endpoint: Endpoint): Promise<ApiObject> {
  const mediaType = bodyMediaType(exchange.headers['content-type']);
  const report = fieldValidationOf(exchange);
  const bytes = await exchange.readBody();
  const pace = new Pace();
  const decoded = decodeReporting(boundedBody(exchange, bytes, mediaType), { endpoint, report });
  const object = withDistinctOwners(decoded, exchange.warnings);
  exchange.audit?.requestObject(object.metadata, () =>
    mediaType === MEDIA_TYPE.json ? bytes : encodeObject(object),
  );
  if (pace.isDue) await pace.rest();
  return object;
}

/** The bytes of a body, and their parser. */
interface BoundedBody {
  readonly bytes: Buffer;
  readonly mediaType: string;
  /** Throws TooLargeHereError for a body that is too large for this thread or contains too many values. */
  readonly parse: (expected: ExpectedObject) => ParsedBody;
}

/**
 * Reads a body within the bounds of the request. Throws TooLargeHereError for one that is too long for this
 * thread.
 */
export function boundedBody({ bounds }: Exchange, bytes: Buffer, mediaType: string): BoundedBody {
  const syntax = SYNTAX_OF.get(mediaType) ?? 'json';
  keepBodyWithin(bounds, bytes.length, syntax);
  return {
    bytes,
    mediaType,
    parse: (expected) => {
      const parsed = parseBody({ bytes, mediaType, bounds }, expected);
      // A short YAML alias can stand for a long value, and a Protobuf number for a long name.
      if (syntax === 'json') keepJsonWithin(bounds, parsed.value, bytes.length);
      else keepValuesWithin(bounds, parsed.value, bytes.length);
      return parsed;
    },
  };
}

const SYNTAX_OF: ReadonlyMap<string, BodySyntax> = new Map([
  [MEDIA_TYPE.yaml, 'yaml'],
  [MEDIA_TYPE.protobuf, 'protobuf'],
]);

function decodeReporting(
  { bytes, mediaType, parse }: BoundedBody,
  { endpoint, report }: { readonly endpoint: Endpoint; readonly report: ReportProblems | undefined },
): ApiObject {
  const { row, apiVersion, type, custom } = endpoint;
  const { value, parseNumberTexts } = parse({ kind: row.kind, apiVersion, type });
  // The numbers of a custom resource are those of its JSON, whatever their text.
  const texts = custom === undefined ? parseNumberTexts?.() : undefined;
  if (mediaType === MEDIA_TYPE.protobuf) return decodeValue(value, endpoint, report);
  const reportAll = reportingDuplicates(report, bytes, mediaType === MEDIA_TYPE.yaml ? 'yaml' : 'json');
  return decodeValue(texts ?? value, endpoint, reportAll, { bytes, hasNumberTexts: texts !== undefined });
}

/** The text from which a value was parsed. */
interface BodyText {
  /** Undefined for the result of a patch. */
  readonly bytes?: Buffer;
  /** Whether the value can contain a `NumberText`. */
  readonly hasNumberTexts: boolean;
}

/**
 * Reads values that are already parsed, such as the result of a patch, as an object of the endpoint's kind and version, with defaults.
 * `origin` is the body that they were parsed from, or `converter` where upstream's converter makes the object: it truncates integers that
 * have too many bits. Throws BadRequest.
 */
export function decodeValue(
  value: unknown,
  endpoint: Endpoint,
  report?: ReportProblems,
  origin?: BodyText | 'converter',
): ApiObject {
  const written = origin === 'converter' ? undefined : origin;
  checkKind(value, endpoint, written?.bytes);
  const { kind } = endpoint.row;
  try {
    const unknown = report === undefined ? 'drop' : 'report';
    const by = origin === 'converter' && endpoint.custom === undefined ? 'converter' : 'reader';
    const { object, unknownFields } = STEP_TIMES.run('decode', () =>
      decodeObject(endpoint.type, withReset(value, endpoint), {
        unknown,
        empty: 'keep',
        by,
        hasNumberTexts: written?.hasNumberTexts === true,
      }),
    );
    report?.(unknownFieldProblems([...unknownFields, ...droppedFields(endpoint, object)]));
    const decoded = { ...object, kind, apiVersion: endpoint.apiVersion };
    return STEP_TIMES.run('default', () => endpoint.applyDefaults?.(decoded)) ?? decoded;
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    throw badRequest(
      `${kind} in version ${JSON.stringify(endpoint.row.version)} cannot be handled as a ${kind}: ${error.message}`,
      error,
    );
  }
}

/**
 * An empty list of managedFields removes all entries, as a list with one empty entry does; the decoder keeps
 * only the latter. For custom resources an empty list has no effect, since upstream encodes their metadata
 * again before it looks.
 */
function withReset(value: unknown, { custom }: Endpoint): unknown {
  if (custom !== undefined || !isJsonObject(value)) return value;
  const { metadata } = value as { readonly metadata?: unknown };
  if (!isJsonObject(metadata)) return value;
  const { managedFields } = metadata as { readonly managedFields?: unknown };
  if (!Array.isArray(managedFields) || managedFields.length > 0) return value;
  return { ...value, metadata: { ...metadata, managedFields: [{}] } };
}

/** Throws BadRequest for a value whose kind and version cannot be read. The message shows the beginning of the body. */
function checkTypeMeta(
  value: unknown,
  endpoint: Endpoint,
  body: Buffer | undefined,
): asserts value is object {
  const why = typeMetaProblem(value);
  if (why !== undefined) throw unrecognized(endpoint, why, body);
}

function unrecognized({ row }: Pick<Endpoint, 'row'>, why: string, body: Buffer | undefined): StatusError {
  const summary = body === undefined ? '' : ` (${summaryOf(body)})`;
  return badRequest(
    `the object provided is unrecognized (must be of type ${row.kind}): ${why}${summary}`,
    new KindError(why),
  );
}

/** Returns why kind and version of a value cannot be read; undefined where they can, or are absent. */
export function typeMetaProblem(value: unknown): string | undefined {
  let error: DecodeError | undefined;
  if (isJsonObject(value)) {
    const name = TYPE_META.find((each) => typeof (getOwn(value, each) ?? '') !== 'string');
    if (name !== undefined) error = unexpectedType('string', getOwn(value, name)).locate(name);
  } else error = unexpectedType('TypeMeta', value);
  return error && `couldn't get version/kind; json parse error: json: ${error.message}`;
}

const TYPE_META = ['kind', 'apiVersion'] as const;

/** Checks the kind and apiVersion; absent ones default to those of the endpoint. */
function checkKind(value: unknown, endpoint: Endpoint, body: Buffer | undefined): void {
  checkTypeMeta(value, endpoint, body);
  const { kind } = endpoint.row;
  const given = value as { readonly kind?: unknown; readonly apiVersion?: unknown };
  if (endpoint.custom !== undefined) checkCustomKind(value, endpoint, body);
  const givenKind = typeof given.kind === 'string' && given.kind !== '' ? given.kind : kind;
  const givenVersion =
    typeof given.apiVersion === 'string' && !NO_VERSION.has(given.apiVersion)
      ? given.apiVersion
      : endpoint.apiVersion;
  if (givenKind === kind && givenVersion === endpoint.apiVersion) return;
  throw mismatch({ kind: givenKind, version: givenVersion }, endpoint, body);
}

/** apiVersions that upstream parses as neither a group nor a version. */
const NO_VERSION: ReadonlySet<string> = new Set(['', '/']);

/**
 * The error for another kind or version than that of the endpoint; its cause has the message without naming
 * them.
 */
function mismatch(
  given: { readonly kind: string; readonly version: string },
  { row, apiVersion, custom, explainMisfit }: Endpoint,
  body: Buffer | undefined,
): StatusError {
  const { kind } = row;
  if (given.version.split('/').length > 2) {
    return unrecognized({ row }, `unexpected GroupVersion string: ${given.version}`, body);
  }
  const { group, version } = parseGroupVersion(given.version);
  const unfit = custom === undefined ? explainMisfit?.({ ...given, group }, row) : undefined;
  if (unfit === undefined) {
    return badRequest(
      `the API version in the data (${given.version}) does not match the expected API version (${apiVersion})`,
    );
  }
  return badRequest(
    `${given.kind} in version ${goQuote(version)} cannot be handled as a ${kind}: ${unfit}`,
    new KindError(unfit),
  );
}

/** The kind or apiVersion of an object is invalid. */
export class KindError extends Error {
  override readonly name = 'KindError';
}

/** Returns why kind and version of a custom resource do not suffice: they may not be absent. Both are strings or null. */
export function missingTypeMeta(value: unknown, body?: Buffer): string | undefined {
  if (!isJsonObject(value)) return undefined;
  if ((getOwn(value, 'kind') ?? '') === '') {
    return `Object 'Kind' is missing${body === undefined ? '' : ` in '${summaryOf(body)}'`}`;
  }
  if (getOwn(value, 'apiVersion') !== null) return undefined;
  return '.apiVersion accessor error: <nil> is of the type <nil>, expected string';
}

/** Throws for a custom resource without a kind (BadRequest) or of another type than the endpoint's (Invalid). */
function checkCustomKind(value: object, { row, apiVersion }: Endpoint, body: Buffer | undefined): void {
  const missing = missingTypeMeta(value, body);
  if (missing !== undefined) {
    throw badRequest(
      `${row.kind} in version ${JSON.stringify(row.version)} cannot be handled as a ${row.kind}: ${missing}`,
    );
  }
  const { kind = '', apiVersion: version = '', metadata } = value as Readonly<Record<string, unknown>>;
  if (typeof kind !== 'string' || typeof version !== 'string') return;
  // Another group or version in a body has another error.
  if (version !== apiVersion && version !== '' && (body !== undefined || kind !== row.kind)) return;
  const name = text(record(metadata)['name']);
  const group = version.includes('/') ? version.slice(0, version.indexOf('/')) : '';
  if (kind !== row.kind) {
    throw invalidObject({ group, kind }, name, [invalid('kind', kind, `must be ${row.kind}`)]);
  }
  if (version !== apiVersion) {
    throw invalidObject({ group, kind }, name, [invalid('apiVersion', version, `must be ${apiVersion}`)]);
  }
}
