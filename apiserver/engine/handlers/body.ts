import { MEDIA_TYPE } from '../../../shared/names';
import { invalid, invalidObject } from '../../../shared/errors/field-error';
import { goQuote } from '../../../shared/errors/go-quote';
import { parseGroupVersion } from '../../../shared/api/resources';
import { STEP_TIMES } from '../../../shared/concurrency/long-steps';
import { Pace } from '../../../shared/concurrency/pace';
import type { StatusError } from '../../../shared/errors/status-error';
import { badRequest } from '../../../shared/errors/status-error';
import type { ApiObject } from '../../../shared/object/object';
import { DecodeError, decodeObject, withFractions } from '../../../shared/schema/decode';
import { encodeObject } from '../../../shared/schema/encode';
import { jsonInOrder, typeMetaWords } from '../../../shared/schema/reader-words/document-words';
import { DOCUMENT_BYTES_MAX, readerWords } from '../../../shared/schema/reader-words/reader-words';
import { messageType } from '../../../shared/schema/types';
import type { ExpectedObject } from '../encoding/request-body';
import { bodyMediaType, parseBody, summaryOf } from '../encoding/request-body';
import type { Exchange } from '../request/exchange';
import type { BodySyntax } from '../request/loop-bounds';
import { keepBodyWithin, keepJsonWithin, keepValuesWithin } from '../request/loop-bounds';
import type { Endpoint } from '../registry/resource';
import { isJsonObject } from '../../../shared/object/clone';
import { fieldsOf, record, text } from '../../../shared/object/accessors';
import { withDistinctOwners } from '../registry/distinct-owners';
import type { ReportProblems } from './field-validation';
import { fieldValidationOf, reportingDuplicates, unknownFieldProblems } from './field-validation';
import { missingTypeMeta } from './custom-patched';
import { unfitKindWords } from './unfit-kind';
import { droppedFields } from './field-validation-custom';

/**
 * The object in a request's body (JSON, YAML or Protobuf), checked against the endpoint's kind and version and brought into canonical
 * form. Throws UnsupportedMediaType (415), and BadRequest for malformed bytes, another kind or version, and fields of a wrong type.
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

/** Bytes of a body, and what reads them. */
interface BoundedBody {
  readonly bytes: Buffer;
  readonly mediaType: string;
  /** Throws TooLargeHereError for a body that is not to be parsed in this thread, or has turned out to hold too much. */
  readonly parse: (expected: ExpectedObject) => unknown;
}

/** The body of a request that must keep to its bounds. Throws TooLargeHereError for one that is too long to be parsed here. */
export function boundedBody({ bounds }: Exchange, bytes: Buffer, mediaType: string): BoundedBody {
  const syntax = SYNTAX_OF.get(mediaType) ?? 'json';
  keepBodyWithin(bounds, bytes.length, syntax);
  return {
    bytes,
    mediaType,
    parse: (expected) => {
      const value = parseBody(bytes, mediaType, expected);
      // In other languages an alias stands for what is long, and a number for a name.
      if (syntax === 'json') keepJsonWithin(bounds, value, bytes.length);
      else keepValuesWithin(bounds, value, bytes.length);
      return value;
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
  const { row, apiVersion, type } = endpoint;
  const value = parse({ kind: row.kind, apiVersion, type });
  if (mediaType === MEDIA_TYPE.protobuf) return decodeValue(value, endpoint, report);
  const syntax = mediaType === MEDIA_TYPE.yaml ? 'yaml' : 'json';
  return decodeValue(value, endpoint, reportingDuplicates(report, bytes, syntax), { bytes, syntax });
}

/** The text that a value was parsed from. */
interface Written {
  readonly bytes: Buffer;
  readonly syntax: 'json' | 'yaml';
}

/**
 * The same for JSON that is already parsed: the result of a patch. What the client left out is filled in by the rules of its version. `origin`
 * is the text, for the words about what does not fit, or that upstream's converter makes the object: of integers with too many bits it takes the
 * lowest ones.
 */
export function decodeValue(
  value: unknown,
  endpoint: Endpoint,
  report?: ReportProblems,
  origin?: Written | 'converter',
): ApiObject {
  const written = origin === 'converter' ? undefined : origin;
  checkKind(value, endpoint, written);
  const { kind } = endpoint.row;
  try {
    const unknown = report === undefined ? 'drop' : 'report';
    const by = origin === 'converter' && endpoint.custom === undefined ? 'converter' : 'reader';
    refuseFractions(value, endpoint);
    const { object, unknownFields } = STEP_TIMES.run('decode', () =>
      decodeObject(endpoint.type, withReset(value, endpoint), { unknown, empty: 'keep', by }),
    );
    report?.(unknownFieldProblems([...unknownFields, ...droppedFields(endpoint, object)]));
    const decoded = { ...object, kind, apiVersion: endpoint.apiVersion };
    return STEP_TIMES.run('default', () => endpoint.applyDefaults?.(decoded)) ?? decoded;
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    const words = written && wordsOf(value, endpoint, written);
    throw badRequest(
      `${kind} in version ${JSON.stringify(endpoint.row.version)} cannot be handled as a ${kind}: ${words ?? error.message}`,
      error,
    );
  }
}

/** What upstream's reader says of what does not fit: of a custom resource it reads the metadata alone, once its JSON has been parsed. */
function wordsOf(value: unknown, { custom, type }: Endpoint, { bytes, syntax }: Written): string | undefined {
  if (custom === undefined && syntax === 'json') return readerWords(bytes, type);
  const read = custom === undefined ? value : fieldsOf<{ readonly metadata: unknown }>(value).metadata;
  const json = jsonInOrder(read ?? null, bytes);
  return json && readerWords(json, custom === undefined ? type : OBJECT_META);
}

const OBJECT_META = messageType('meta/v1.ObjectMeta');

/** As in Go, a number with a point or an exponent is none for an integer field of a built-in kind. */
function refuseFractions(value: unknown, { custom, type }: Endpoint): void {
  const written = custom === undefined ? withFractions(value) : undefined;
  if (written !== undefined) decodeObject(type, written);
}

/**
 * An empty list of managedFields takes all owners away, as one with an empty entry does; only that comes through the decoder. In a custom
 * resource it is none, since upstream writes their metadata once more before it looks.
 */
function withReset(value: unknown, { custom }: Endpoint): unknown {
  if (custom !== undefined || !isJsonObject(value)) return value;
  const { metadata } = value as { readonly metadata?: unknown };
  if (!isJsonObject(metadata)) return value;
  const { managedFields } = metadata as { readonly managedFields?: unknown };
  if (!Array.isArray(managedFields) || managedFields.length > 0) return value;
  return { ...value, metadata: { ...metadata, managedFields: [{}] } };
}

/** Refuses what has no kind and version that could be read, with the beginning of the text that says so. */
function checkTypeMeta(
  value: unknown,
  endpoint: Endpoint,
  written: Written | undefined,
): asserts value is object {
  const words = typeMetaWords(value);
  if (words === undefined) return;
  const summary = written === undefined ? '' : ` (${summaryOf(written.bytes)})`;
  const why = noTypeMetaWords(words);
  throw badRequest(
    `the object provided is unrecognized (must be of type ${endpoint.row.kind}): ${why}${summary}`,
    new KindError(why),
  );
}

export function noTypeMetaWords(words: string): string {
  return `couldn't get version/kind; json parse error: ${words}`;
}

/** An absent kind or apiVersion is taken to be the endpoint's. */
function checkKind(value: unknown, endpoint: Endpoint, written: Written | undefined): void {
  checkTypeMeta(value, endpoint, written);
  const { kind } = endpoint.row;
  const given = value as { readonly kind?: unknown; readonly apiVersion?: unknown };
  if (endpoint.custom !== undefined) checkCustomKind(value, endpoint, written);
  const givenKind = typeof given.kind === 'string' && given.kind !== '' ? given.kind : kind;
  const givenVersion =
    typeof given.apiVersion === 'string' && !NO_VERSION.has(given.apiVersion)
      ? given.apiVersion
      : endpoint.apiVersion;
  if (givenKind === kind && givenVersion === endpoint.apiVersion) return;
  throw mismatch({ kind: givenKind, version: givenVersion }, endpoint, written);
}

/** What upstream reads as neither a group nor a version. */
const NO_VERSION: ReadonlySet<string> = new Set(['', '/']);

/** What is wrong with an object of another kind or version than the endpoint's; the cause says it without naming them. */
function mismatch(
  given: { readonly kind: string; readonly version: string },
  { row, stored, apiVersion, custom }: Endpoint,
  written: Written | undefined,
): StatusError {
  const { kind } = row;
  if (given.version.split('/').length > 2) {
    const summary = written === undefined ? '' : ` (${summaryOf(written.bytes)})`;
    const why = `unexpected GroupVersion string: ${given.version}`;
    return badRequest(
      `the object provided is unrecognized (must be of type ${kind}): ${why}${summary}`,
      new KindError(why),
    );
  }
  const { group, version } = parseGroupVersion(given.version);
  const unfit = custom === undefined ? unfitKindWords({ ...given, group }, { row, stored }) : undefined;
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

/** The JSON of a body; undefined where that is too long to be told. */
function jsonTextOf(value: object, { bytes, syntax }: Written): string | undefined {
  if (syntax === 'yaml') return jsonInOrder(value, bytes)?.toString();
  return bytes.length > DOCUMENT_BYTES_MAX ? undefined : bytes.toString().trim();
}

/** What is wrong with the kind or version that an object says it has. */
export class KindError extends Error {
  override readonly name = 'KindError';
}

/** Of a custom resource the kind may not be left out, and what else is wrong with its type is told like any wrong field. */
function checkCustomKind(value: object, { row, apiVersion }: Endpoint, written: Written | undefined): void {
  const missing = missingTypeMeta(value);
  if (missing !== undefined) {
    const body = written === undefined ? '' : (jsonTextOf(value, written) ?? '');
    throw badRequest(
      `${row.kind} in version ${JSON.stringify(row.version)} cannot be handled as a ${row.kind}: ${missing(body)}`,
    );
  }
  const { kind = '', apiVersion: version = '', metadata } = value as Readonly<Record<string, unknown>>;
  if (typeof kind !== 'string' || typeof version !== 'string') return;
  // Another group or version of a body is refused in other words.
  if (version !== apiVersion && version !== '' && (written !== undefined || kind !== row.kind)) return;
  const name = text(record(metadata)['name']);
  const group = version.includes('/') ? version.slice(0, version.indexOf('/')) : '';
  if (kind !== row.kind) {
    throw invalidObject({ group, kind }, name, [invalid('kind', kind, `must be ${row.kind}`)]);
  }
  if (version !== apiVersion) {
    throw invalidObject({ group, kind }, name, [invalid('apiVersion', version, `must be ${apiVersion}`)]);
  }
}
