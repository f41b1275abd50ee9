import { GROUP, KUBERNETES_PROTOBUF, MEDIA_TYPE } from '../../../shared/names';
import { StatusError } from '../../../shared/errors/status-error';
import type { Exchange } from '../request/exchange';
import type { MediaRange } from './media-type';
import { parseAccept, parseMediaType } from './media-type';

export const FORMATS = ['json', 'yaml', 'protobuf'] as const;
export type Format = (typeof FORMATS)[number];

const SHAPE_KINDS = ['Table', 'PartialObjectMetadata', 'PartialObjectMetadataList'] as const;
const SHAPE_VERSIONS = ['v1', 'v1beta1'] as const;

/** What an object or a list is turned into before it is written. */
export interface Shape {
  readonly kind: (typeof SHAPE_KINDS)[number];
  readonly version: (typeof SHAPE_VERSIONS)[number];
}

/** How the answer is to be written. */
export interface Negotiated {
  readonly format: Format;
  /** Undefined: as it is. */
  readonly shape: Shape | undefined;
  /** What the client calls Protobuf, where that is not the server's own name for it. */
  readonly protobufType?: string;
  /** Indented; only JSON is. */
  readonly pretty: boolean;
}

/** What an endpoint can write. */
export interface Offer {
  /** The formats for things as they are, the one for a wildcard first. */
  readonly formats: readonly Format[];
  /** Whether objects may be asked for as a Table or as their metadata alone. */
  readonly shapes: boolean;
  /** False where there are shapes, but no columns for a Table. */
  readonly tables?: false;
  /** Of frames, which are never indented. */
  readonly stream: boolean;
}

/** For documents that are no objects of the store. */
export const DOCUMENT_OFFER: Offer = { formats: FORMATS, shapes: false, stream: false };

/** For the Status that an operation on an object ends with: whoever asked for a Table of the object gets it all the same. */
export const OUTCOME_OFFER: Offer = { ...DOCUMENT_OFFER, shapes: true };

/** For what an operation makes up: reviews and the like have no columns. */
export const OPERATION_OFFER: Offer = { ...OUTCOME_OFFER, tables: false };

/** What nearly every answer is written as. */
export const PLAIN_JSON: Negotiated = { format: 'json', shape: undefined, pretty: false };

/**
 * How to answer the request, from its Accept header, `?pretty` and the client's name. An element of the header that asks for something
 * not offered is passed over for the next one. Throws NotAcceptable (406) when nothing fits.
 */
export function negotiate({ headers, query }: Pick<Exchange, 'headers' | 'query'>, offer: Offer): Negotiated {
  const chosen = negotiateAccept(headers.accept, offer);
  if (chosen.format !== 'json' || offer.stream) return chosen;
  const pretty = chosen.pretty || isHumanClient(query.get('pretty') ?? '', headers['user-agent'] ?? '');
  return pretty === chosen.pretty ? chosen : { ...chosen, pretty };
}

function negotiateAccept(accept: string | undefined, offer: Offer): Negotiated {
  // What nearly every request says; the rest of this function is not needed for it.
  if (accept === undefined || accept === MEDIA_TYPE.json || accept === '*/*' || accept.trim() === '') {
    return PLAIN_JSON;
  }
  for (const range of parseAccept(accept)) {
    for (const format of FORMATS) {
      const fit = covers(range, format) ? fitOf(range, format, offer) : undefined;
      if (fit !== undefined) return fit;
    }
  }
  // All that anything is written in: what has no Protobuf has its metadata in it.
  throw notAcceptable(FORMATS.map((format) => MEDIA_TYPE[format]));
}

/** NotAcceptable (406), with what could be had instead. */
export function notAcceptable(offered: readonly string[]): StatusError {
  return new StatusError(
    'NotAcceptable',
    `only the following media types are accepted: ${offered.join(', ')}`,
  );
}

function isWildcard({ type, subtype }: MediaRange): boolean {
  return type === '*' && subtype === '*';
}

function formatOf({ type, subtype }: MediaRange): Format | undefined {
  const essence = ownName(`${type}/${subtype}`);
  return FORMATS.find((format) => MEDIA_TYPE[format] === essence);
}

/** A media type as the server calls it. */
function ownName(essence: string): string {
  return essence === KUBERNETES_PROTOBUF ? MEDIA_TYPE.protobuf : essence;
}

function covers(range: MediaRange, format: Format): boolean {
  if (isWildcard(range)) return true;
  return range.subtype === '*' ? MEDIA_TYPE[format].startsWith(`${range.type}/`) : formatOf(range) === format;
}

/** The element as a way to answer, or undefined when the endpoint cannot do what its parameters say. */
function fitOf(range: MediaRange, format: Format, offer: Offer): Negotiated | undefined {
  const { parameters } = range;
  const stream = parameters.get('stream');
  if (stream !== undefined && stream !== '' && (stream !== 'watch' || format === 'yaml')) return undefined;
  // The version of the API's own kinds, of which there is one.
  if (!['', 'v1'].includes(parameters.get('sv') ?? '')) return undefined;
  const pretty = format === 'json' && parameters.get('pretty') === '1';
  const as = parameters.get('as') ?? '';
  if (!SHAPE_PARAMETERS.some((name) => parameters.has(name))) {
    return offer.formats.includes(format)
      ? { format, shape: undefined, pretty, ...namedBy(range, format) }
      : undefined;
  }
  const shape = shapeOf(as, parameters);
  if (shape === undefined || !offer.shapes) return undefined;
  if (shape.kind === 'Table' && (format === 'protobuf' || offer.tables === false)) return undefined;
  return { format, shape, pretty, ...namedBy(range, format) };
}

const SHAPE_PARAMETERS: readonly string[] = ['as', 'g', 'v'];

/** An answer is called what it was asked for as. */
function namedBy({ type, subtype }: MediaRange, format: Format): Pick<Negotiated, 'protobufType'> {
  const essence = `${type}/${subtype}`;
  const isForeign = essence === KUBERNETES_PROTOBUF && essence !== MEDIA_TYPE.protobuf;
  return format === 'protobuf' && isForeign ? { protobufType: essence } : {};
}

function shapeOf(as: string, parameters: MediaRange['parameters']): Shape | undefined {
  const kind = SHAPE_KINDS.find((each) => each === as);
  const version = SHAPE_VERSIONS.find((each) => each === parameters.get('v'));
  if (kind === undefined || version === undefined || parameters.get('g') !== GROUP.meta) return undefined;
  return { kind, version };
}

const TRUE = /^(?:1|t|T|true|TRUE|True)$/;
/** Programs behind which a person reads. */
const PEOPLE = /^(?:curl|Wget|Mozilla\/5\.0)/;

function isHumanClient(parameter: string, userAgent: string): boolean {
  return parameter === '' ? PEOPLE.test(userAgent) : TRUE.test(parameter);
}

/** Checks the Content-Type of a patch, which is compared letter by letter up to its parameters. Throws UnsupportedMediaType (415). */
export function negotiatePatch(contentType: string | undefined, supported: readonly string[]): string {
  const [written = ''] = contentType?.split(';', 1) ?? [];
  if (supported.includes(written)) return written;
  throw unsupportedMediaType(supported);
}

/** Checks a request body's Content-Type against what the verb reads. Throws UnsupportedMediaType (415). An absent or empty one is JSON. */
export function negotiateBody(contentType: string | undefined, supported: readonly string[]): string {
  // What nearly every request says; the rest of this function is not needed for it.
  if (contentType !== undefined && supported.includes(contentType)) return contentType;
  const parsed = parseMediaType(
    contentType === undefined || contentType === '' ? MEDIA_TYPE.json : contentType,
  );
  const essence = parsed === undefined ? '' : ownName(`${parsed.type}/${parsed.subtype}`);
  if (supported.includes(essence)) return essence;
  throw unsupportedMediaType(supported);
}

function unsupportedMediaType(supported: readonly string[]): StatusError {
  return new StatusError(
    'UnsupportedMediaType',
    `the body of the request was in an unknown format - accepted media types include: ${supported.join(', ')}`,
  );
}
