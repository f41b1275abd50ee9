import { ownKeyMap } from '../../../shared/own-key-map';
import { badRequest } from '../../../shared/errors/status-error';
import { STEP_TIMES } from '../../../shared/concurrency/long-steps';
import { MEDIA_TYPE } from '../../../shared/names';
import { decodeProtobuf } from '../../../shared/protobuf/decode';
import { unwrapEnvelope } from '../../../shared/protobuf/envelope';
import type { JsonDocument } from '../../../shared/schema/decode';
import { DecodeError, decodeJsonDocument } from '../../../shared/schema/decode';
import type { MessageType } from '../../../shared/schema/types';
import type { LoopBounds } from '../request/loop-bounds';
import { negotiateBody } from './negotiation';
import { parseYaml } from './yaml';

/** The object that a body should contain. */
export interface ExpectedObject {
  readonly kind: string;
  /** Undefined: any version, as for options, which belong to every group version. */
  readonly apiVersion?: string;
  readonly type: MessageType;
}

/** The bytes of a body. */
export interface Body {
  readonly bytes: Buffer;
  readonly mediaType: string;
  /** Limits of the thread; undefined in a worker. */
  readonly bounds?: LoopBounds | undefined;
}

/** The media types of bodies, in the order of error messages. */
const STANDARD_MEDIA_TYPES: readonly string[] = [MEDIA_TYPE.json, MEDIA_TYPE.yaml, MEDIA_TYPE.protobuf];

/** Returns the media type of a body. Throws UnsupportedMediaType (415). */
export function bodyMediaType(contentType: string | undefined): string {
  return negotiateBody(contentType, STANDARD_MEDIA_TYPES);
}

/** The values of a body. Only JSON says how its numbers were written. */
export type ParsedBody = Pick<JsonDocument, 'value' | 'parseNumberTexts'>;

/**
 * Decodes a body of any media type to JSON values. If kind or version are not the expected ones, only they are
 * decoded, because the caller refuses such an object. Throws BadRequest for malformed bytes, and for Protobuf if the
 * kind has no schema; TooLargeHereError for YAML whose aliases stand for too much.
 */
export function parseBody(body: Body, expected: ExpectedObject): ParsedBody {
  const { bytes, mediaType } = body;
  try {
    if (mediaType === MEDIA_TYPE.json && bytes.length <= BRIEF_JSON_BYTES_MAX) return parse(body, expected);
    return STEP_TIMES.run(STAGE_OF_TYPE.get(mediaType) ?? 'parse_json', () => parse(body, expected));
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    const why =
      mediaType === MEDIA_TYPE.json
        ? `couldn't get version/kind; json parse error: ${error.message}`
        : error.message;
    throw badRequest(
      `the object provided is unrecognized (must be of type ${expected.kind}): ${why} (${summaryOf(bytes)})`,
      error,
    );
  }
}

/** So much JSON is parsed quickly, and is not measured. */
const BRIEF_JSON_BYTES_MAX = 8 * 1_024;

const STAGE_OF_TYPE = ownKeyMap<string>({
  [MEDIA_TYPE.yaml]: 'parse_yaml',
  [MEDIA_TYPE.protobuf]: 'parse_protobuf',
});

function parse({ bytes, mediaType, bounds }: Body, expected: ExpectedObject): ParsedBody {
  if (mediaType === MEDIA_TYPE.protobuf) {
    return { value: parseProtobuf(bytes, expected), parseNumberTexts: undefined };
  }
  const { value, parseNumberTexts } =
    mediaType === MEDIA_TYPE.yaml
      ? { value: parseYaml(bytes, bounds), parseNumberTexts: undefined }
      : decodeJsonDocument(bytes);
  // As in Go, null reads as an empty object.
  return { value: value ?? {}, parseNumberTexts };
}

const SUMMARY_BYTES_MAX = 30;

/** Returns the beginning of a body for an error message: text if it looks like a JSON object, else hexadecimal. */
export function summaryOf(bytes: Buffer): string {
  if (bytes.length === 0) return '<empty>';
  const text = bytes.subarray(0, SUMMARY_BYTES_MAX).toString(bytes[0] === OPEN_BRACE ? 'utf8' : 'hex');
  return bytes.length > SUMMARY_BYTES_MAX ? `${text} ...` : text;
}

const OPEN_BRACE = 0x7b;

function parseProtobuf(bytes: Buffer, { kind, apiVersion, type }: ExpectedObject): unknown {
  if (type.open) throw new DecodeError('a kind without a schema has no Protobuf');
  const envelope = unwrapEnvelope(bytes);
  const given = { kind: envelope.kind, apiVersion: envelope.apiVersion };
  const isOther = (name: string, wanted: string | undefined): boolean =>
    name !== '' && wanted !== undefined && name !== wanted;
  if (isOther(given.kind, kind) || isOther(given.apiVersion, apiVersion)) return given;
  return { ...given, ...decodeProtobuf(type, envelope.raw) };
}
