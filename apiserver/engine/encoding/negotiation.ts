import { GROUP, KUBERNETES_META_GROUP, KUBERNETES_PROTOBUF, MEDIA_TYPE } from '../../../shared/names';
import { StatusError } from '../../../shared/errors/status-error';
import type { GroupVersionKind } from '../../../shared/object/object';
import type { Exchange } from '../request/exchange';
import type { MediaRange } from './media-type';
import { parseAccept, parseMediaType } from './media-type';

export const FORMATS = ['json', 'yaml', 'protobuf'] as const;
export type Format = (typeof FORMATS)[number];

const SHAPE_KINDS = ['Table', 'PartialObjectMetadata', 'PartialObjectMetadataList'] as const;
const SHAPE_VERSIONS = ['v1', 'v1beta1'] as const;
const META_GROUPS = [GROUP.meta, KUBERNETES_META_GROUP] as const;

/** The form that an object or list is converted to. */
export interface Shape {
  readonly kind: (typeof SHAPE_KINDS)[number];
  /** As the client named it: that of this dialect or Kubernetes' own, which kubectl always uses. */
  readonly group: string;
  readonly version: (typeof SHAPE_VERSIONS)[number];
}

/** The negotiated format of an answer. */
export interface Negotiated {
  readonly format: Format;
  /** Undefined: the plain object. */
  readonly shape: Shape | undefined;
  /** The chosen form of a document; absent: the plain one. */
  readonly form?: GroupVersionKind;
  /** The media type of Protobuf that the client used, if it is not the server’s own. */
  readonly protobufType?: string;
  /** Indented JSON. */
  readonly pretty: boolean;
}

/** The formats of an endpoint. */
export interface Offer {
  /** The formats of plain objects; the first is used for a wildcard. */
  readonly formats: readonly Format[];
  /** Whether objects are available as a Table or as metadata alone. */
  readonly shapes: boolean;
  /** False: no Table. */
  readonly tables?: false;
  /** Further forms of a document, by group, version and kind as clients name them. */
  readonly forms?: readonly GroupVersionKind[];
  /** Watch frames, which are never indented. */
  readonly stream: boolean;
}

/** For documents that are not stored objects. */
export const DOCUMENT_OFFER: Offer = { formats: FORMATS, shapes: false, stream: false };

/** For the Status of an operation on an object: a request for a Table of the object gets the plain Status. */
export const OUTCOME_OFFER: Offer = { ...DOCUMENT_OFFER, shapes: true };

/** For reviews and other virtual objects, which have no columns. */
export const OPERATION_OFFER: Offer = { ...OUTCOME_OFFER, tables: false };

/** The format of nearly every answer. */
export const PLAIN_JSON: Negotiated = { format: 'json', shape: undefined, pretty: false };

/**
 * Negotiates the format from the Accept header, `?pretty` and the user agent. Elements of the header that are not
 * offered are skipped. Throws NotAcceptable (406) if none fits.
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
  // Lists all formats: a kind without Protobuf has its metadata in it.
  throw notAcceptable(FORMATS.map((format) => MEDIA_TYPE[format]));
}

/** Creates NotAcceptable (406) with the offered media types. */
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

/** Returns the server’s own name of a media type. */
function ownName(essence: string): string {
  return essence === KUBERNETES_PROTOBUF ? MEDIA_TYPE.protobuf : essence;
}

function covers(range: MediaRange, format: Format): boolean {
  if (isWildcard(range)) return true;
  return range.subtype === '*' ? MEDIA_TYPE[format].startsWith(`${range.type}/`) : formatOf(range) === format;
}

/** Converts an element to a format; undefined if the offer does not have it. */
function fitOf(range: MediaRange, format: Format, offer: Offer): Negotiated | undefined {
  const { parameters } = range;
  const stream = parameters.get('stream');
  if (stream !== undefined && stream !== '' && (stream !== 'watch' || format === 'yaml')) return undefined;
  // The schema version of meta kinds, of which there is one.
  if (!['', 'v1'].includes(parameters.get('sv') ?? '')) return undefined;
  const pretty = format === 'json' && parameters.get('pretty') === '1';
  const as = parameters.get('as') ?? '';
  if (!SHAPE_PARAMETERS.some((name) => parameters.has(name))) {
    return offer.formats.includes(format)
      ? { format, shape: undefined, pretty, ...namedBy(range, format) }
      : undefined;
  }
  const form = offer.forms?.find(
    ({ group, version, kind }) =>
      kind === as && version === parameters.get('v') && group === parameters.get('g'),
  );
  if (form !== undefined) return { format, shape: undefined, form, pretty, ...namedBy(range, format) };
  const shape = shapeOf(as, parameters);
  if (shape === undefined || !offer.shapes) return undefined;
  if (shape.kind === 'Table' && (format === 'protobuf' || offer.tables === false)) return undefined;
  return { format, shape, pretty, ...namedBy(range, format) };
}

const SHAPE_PARAMETERS: readonly string[] = ['as', 'g', 'v'];

/** Returns the media type that the client used for Protobuf. */
function namedBy({ type, subtype }: MediaRange, format: Format): Pick<Negotiated, 'protobufType'> {
  const essence = `${type}/${subtype}`;
  const isForeign = essence === KUBERNETES_PROTOBUF && essence !== MEDIA_TYPE.protobuf;
  return format === 'protobuf' && isForeign ? { protobufType: essence } : {};
}

function shapeOf(as: string, parameters: MediaRange['parameters']): Shape | undefined {
  const kind = SHAPE_KINDS.find((each) => each === as);
  const version = SHAPE_VERSIONS.find((each) => each === parameters.get('v'));
  const group = META_GROUPS.find((each) => each === parameters.get('g'));
  if (kind === undefined || version === undefined || group === undefined) return undefined;
  return { kind, group, version };
}

const TRUE = /^(?:1|t|T|true|TRUE|True)$/;
/** User agents of people. */
const PEOPLE = /^(?:curl|Wget|Mozilla\/5\.0)/;

function isHumanClient(parameter: string, userAgent: string): boolean {
  return parameter === '' ? PEOPLE.test(userAgent) : TRUE.test(parameter);
}

/**
 * Checks the Content-Type of a patch, which must match exactly up to its parameters. Throws UnsupportedMediaType
 * (415).
 */
export function negotiatePatch(contentType: string | undefined, supported: readonly string[]): string {
  const [written = ''] = contentType?.split(';', 1) ?? [];
  if (supported.includes(written)) return written;
  throw unsupportedMediaType(supported);
}

/** Checks the Content-Type of a body. Throws UnsupportedMediaType (415). An absent or empty one is JSON. */
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
