import { MEDIA_TYPE } from '../../../shared/names';
import { StatusError, badRequest } from '../../../shared/errors/status-error';
import type { Clock } from '../../../shared/concurrency/clock';
import { systemClock } from '../../../shared/concurrency/clock';
import { STEP_TIMES } from '../../../shared/concurrency/long-steps';
import { packageOf } from '../../../shared/api/resources';
import { ownKeyMap } from '../../../shared/own-key-map';
import type { Exchange } from '../request/exchange';
import type { Endpoint } from '../registry/resource';
import { jsonEncoder } from './json-encoder';
import type { Format, Negotiated, Offer } from './negotiation';
import { FORMATS, negotiate, notAcceptable, PLAIN_JSON } from './negotiation';
import type { JsonShape, ObjectEncoder } from './object-encoder';
import { partialShape } from './partial-shape';
import { plainShape } from './plain-shape';
import { protobufEncoder } from './protobuf-encoder';
import type { IncludeObject } from './table/table-shape';
import { INCLUDE_OBJECT, tableShape } from './table/table-shape';
import type { LinkPlace } from './self-link';
import { linkPlaceId, linkedShape } from './self-link';
import { yamlEncoder } from './yaml-encoder';

/** What an answer shows: an object, an object through a subresource without columns, a list, or a watch. */
export type Showing = 'object' | 'part' | 'list' | 'stream';

/** Ages in Tables are counted from this clock. */
const clock: Clock = systemClock;

const WITHOUT_PROTOBUF: readonly Format[] = ['json', 'yaml'];

/**
 * Returns the encoder for the endpoint’s objects that the request negotiates. Throws NotAcceptable (406) for a format
 * that the endpoint does not have. A form that does not fit the shown content is the `refusal` of the encoder.
 * Encoders are cached per endpoint and format, so that encodings are shared. `place` is the target of links; default:
 * the objects themselves.
 */
export function encoderOf(
  exchange: Pick<Exchange, 'headers' | 'query' | 'showsLinks'>,
  endpoint: Endpoint,
  showing: Showing,
  place?: LinkPlace,
): ObjectEncoder {
  const negotiated = negotiate(exchange, offerOf(endpoint, showing));
  // Fast path: plain JSON always fits.
  if (negotiated === PLAIN_JSON && exchange.showsLinks !== true) return plainEncoderOf(endpoint);
  const includeObject = includeObjectOf(exchange, negotiated);
  const links = exchange.showsLinks === true ? (place ?? { endpoint, subresource: '' }) : undefined;
  const encoder = sharedEncoder(endpoint, {
    ...negotiated,
    includeObject: includeObject ?? 'Metadata',
    links,
  });
  const refusal =
    includeObject === undefined ? unknownInclude(exchange.query) : misfit(endpoint, negotiated, showing);
  if (refusal !== undefined) return { ...encoder, refusal };
  // As upstream: an event is no list, so the watch ends at the first event.
  return showing === 'stream' && negotiated.shape?.kind === 'PartialObjectMetadataList'
    ? { ...encoder, stream: endedAtFirst }
    : encoder;
}

/** The key of an encoder within its endpoint. */
interface Wanted extends Negotiated {
  readonly includeObject: IncludeObject;
  readonly links: LinkPlace | undefined;
}

function plainEncoderOf(endpoint: Endpoint): ObjectEncoder {
  const known = plainEncoders.get(endpoint);
  if (known !== undefined) return known;
  const encoder = sharedEncoder(endpoint, { ...PLAIN_JSON, includeObject: 'Metadata', links: undefined });
  plainEncoders.set(endpoint, encoder);
  return encoder;
}

const plainEncoders = new WeakMap<Endpoint, ObjectEncoder>();

function sharedEncoder(endpoint: Endpoint, wanted: Wanted): ObjectEncoder {
  const made = encoders.get(endpoint) ?? new Map<string, ObjectEncoder>();
  if (made.size === 0) encoders.set(endpoint, made);
  const key = keyOf(wanted);
  const known = made.get(key);
  if (known !== undefined) return known;
  const encoder = timed(named(createEncoder(endpoint, wanted), wanted), wanted);
  made.set(key, encoder);
  return encoder;
}

async function* endedAtFirst(frames: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const iterator = frames[Symbol.asyncIterator]();
  await iterator.next();
  await iterator.return?.();
  yield* NO_FRAMES;
}

const NO_FRAMES: readonly Buffer[] = [];

/** Sets the content type to the client’s name of the format. Encodings are shared. */
function named(encoder: ObjectEncoder, { protobufType }: Negotiated): ObjectEncoder {
  if (protobufType === undefined) return encoder;
  return { ...encoder, contentType: protobufType, streamContentType: `${protobufType};stream=watch` };
}

/** Measures encoding. Plain JSON is stored ready-made; only other formats can take long. */
function timed(encoder: ObjectEncoder, { format, shape, pretty }: Negotiated): ObjectEncoder {
  if (format === 'json' && shape === undefined && !pretty) return encoder;
  const stage = `encode_${shape === undefined ? format : shape.kind.toLowerCase()}`;
  return { ...encoder, object: (source) => STEP_TIMES.run(stage, () => encoder.object(source)) };
}

/** At most a few dozen per endpoint: all combinations of format, shape, group, version, indentation and row content. */
const encoders = new WeakMap<Endpoint, Map<string, ObjectEncoder>>();

/** Common keys need no concatenation. */
function keyOf({ format, shape, pretty, includeObject, protobufType, links }: Wanted): string {
  const plain = pretty ? 'pretty' : format;
  if (shape === undefined && protobufType === undefined && links === undefined) return plain;
  const shown = shape === undefined ? '' : `${shape.kind} ${shape.group} ${shape.version} ${includeObject}`;
  const key = `${plain} ${protobufType ?? ''} ${shown}`;
  return links === undefined ? key : `${key} ${linkPlaceId(links)}`;
}

/** Returns the formats of an endpoint. A kind without a schema has no Protobuf, except for its metadata. */
function offerOf({ type }: Endpoint, showing: Showing): Offer {
  return (type.open ? OFFERS_WITHOUT_PROTOBUF : OFFERS)[showing];
}

const OFFERS = offersOf(FORMATS);
const OFFERS_WITHOUT_PROTOBUF = offersOf(WITHOUT_PROTOBUF);

function offersOf(formats: readonly Format[]): Readonly<Record<Showing, Offer>> {
  const offer = { formats, shapes: true, stream: false };
  return {
    object: offer,
    part: { ...offer, tables: false },
    list: offer,
    stream: { ...offer, stream: true },
  };
}

function createEncoder(endpoint: Endpoint, wanted: Wanted): ObjectEncoder {
  const { format, shape, links } = wanted;
  const showsMetadata = shape !== undefined && shape.kind !== 'Table';
  const traits = { parses: parsesObjects(endpoint, wanted), showsMetadata };
  if (format === 'protobuf') return { ...protobufEncoder(endpoint, shape, links), ...traits };
  const unlinked = jsonShapeOf(endpoint, wanted);
  const jsonShape = links === undefined ? unlinked : linkedShape(unlinked, links);
  return { ...(format === 'yaml' ? yamlEncoder(jsonShape) : jsonEncoder(jsonShape, wanted)), ...traits };
}

/** Returns whether objects are parsed to be encoded; they are stored as JSON in one version. */
function parsesObjects(endpoint: Endpoint, { format, shape, pretty }: Negotiated): boolean {
  const { conversion, custom } = endpoint;
  if (format !== 'json' || pretty) return true;
  if (shape !== undefined) return shape.kind === 'Table' || (endpoint.hiddenAnnotations ?? []).length > 0;
  return conversion !== undefined || custom?.changesOnRead === true;
}

function jsonShapeOf(endpoint: Endpoint, { shape, includeObject }: Wanted): JsonShape {
  if (shape === undefined) return plainShape(endpoint);
  if (shape.kind === 'Table') return tableShape(endpoint, { shape, includeObject, clock });
  return partialShape(endpoint, shape);
}

/**
 * Returns why a form does not fit: a list is not one object’s metadata, one object is no list, and YAML has no
 * frames.
 */
function misfit(
  endpoint: Endpoint,
  { format, shape }: Negotiated,
  showing: Showing,
): StatusError | undefined {
  if (shape === undefined && format !== 'yaml') return undefined;
  const kind = shape?.kind;
  const isWrong =
    (kind === 'PartialObjectMetadata' && showing === 'list') ||
    (kind === 'PartialObjectMetadataList' && (showing === 'object' || showing === 'part'));
  if (isWrong) {
    const found = `${showing === 'list' ? 'a list' : 'not a list'} (${goTypeShown(endpoint, showing)})`;
    return new StatusError('NotAcceptable', `you requested ${kind}, but the requested object is ${found}`);
  }
  if (showing !== 'stream' || format !== 'yaml') return undefined;
  const formats = FORMATS.filter((each) => each !== 'yaml');
  return notAcceptable(formats.map((each) => `${MEDIA_TYPE[each]};stream=watch`));
}

/** Returns the Go type of upstream for the shown content: the internal type of the kind. */
function goTypeShown({ row, type }: Endpoint, showing: Showing): string {
  const suffix = showing === 'list' ? 'List' : '';
  if (type.open) return `*unstructured.Unstructured${suffix}`;
  const [own = ''] = packageOf(row).split('/');
  return `*${INTERNAL_PACKAGES.get(`${own}.${row.kind}`) ?? own}.${row.kind}${suffix}`;
}

/** Kinds whose group has changed. */
const INTERNAL_PACKAGES = ownKeyMap<string>({ 'events.Event': 'core', 'extensions.Ingress': 'networking' });

/** Parses `includeObject`; undefined for an unknown value. */
function includeObjectOf(
  { query }: Pick<Exchange, 'query'>,
  { shape }: Negotiated,
): IncludeObject | undefined {
  const given = shape?.kind === 'Table' ? (query.get('includeObject') ?? '') : '';
  return given === '' ? 'Metadata' : INCLUDE_OBJECT.find((each) => each === given);
}

function unknownInclude(query: URLSearchParams): StatusError {
  const given = JSON.stringify(query.get('includeObject') ?? '');
  return badRequest(
    `Unable to convert to Table as requested: includeObject: Invalid value: ${given}: must be 'Metadata', 'Object', 'None', or empty`,
  );
}
