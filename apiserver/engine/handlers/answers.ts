import { MEDIA_TYPE } from '../../../shared/names';
import type { ListMeta } from '../../../shared/object/object';
import { apiVersionOf } from '../../../shared/object/object';
import { compressed } from '../encoding/compression';
import { convertedSources, needsConversion } from '../encoding/converted-sources';
import { encoderOf } from '../encoding/encoder-of';
import { jsonLine } from '../encoding/json-encoder';
import type { OffloadedEncoder, ObjectEncoder } from '../encoding/object-encoder';
import type { LinkPlace } from '../encoding/self-link';
import type { Source } from '../encoding/source';
import { writtenSource } from '../encoding/written';
import type { Answer, Exchange } from '../request/exchange';
import { writtenPath } from '../request/request-uri';
import { keepStoredWithin } from '../request/loop-bounds';
import type { Endpoint } from '../registry/resource';
import type { Written } from '../registry/write';
import type { EncodeElement } from './element-encoder';
import { elsewhereOf } from './element-encoder';
import type { Target } from './target';

const JSON_HEADERS = { 'Content-Type': MEDIA_TYPE.json } as const;

/** Responses with one object each. */
export interface ObjectAnswers {
  /**
   * 200 with an object. Throws TooLargeHereError for an object that would have to be parsed and is beyond
   * the bounds of the request.
   */
  object(source: Source): Promise<Answer>;
  /** The result of a write. */
  written(code: number, written: Written): Promise<Answer>;
}

/**
 * Negotiates the response format, once. Throws NotAcceptable (406) if no format fits: call it before any
 * effect of the request. A format that does not fit the kind of response (object, list, Status) is refused
 * when the response is there, as upstream does. `otherPlace` is the place of the request, if the endpoint is
 * that of a view.
 */
export function objectAnswers(
  exchange: Exchange,
  { endpoint, subresource }: Pick<Target, 'endpoint' | 'subresource'>,
  otherPlace?: LinkPlace,
): ObjectAnswers {
  const place = otherPlace ?? (exchange.showsLinks === true ? { endpoint, subresource } : undefined);
  const isPart = subresource !== '' && endpoint.stored.custom === undefined;
  const encoder = encoderOf(exchange, endpoint, isPart ? 'part' : 'object', place);
  const converts = needsConversion(endpoint, encoder);
  const answer = async (code: number, stored: Source): Promise<Answer> => {
    if (encoder.refusal !== undefined) throw encoder.refusal;
    const source = converts ? await convertedSource(endpoint, stored, exchange.signal) : stored;
    const body = encoder.object(source);
    exchange.audit?.responseObject(async () => {
      if (isJson(encoder)) return body;
      return jsonEncoderOf(exchange, endpoint, place).object(
        await convertedSource(endpoint, source, exchange.signal),
      );
    });
    return compressed(exchange, { code, headers: { 'Content-Type': encoder.contentType }, body });
  };
  return {
    object: async (source) => {
      // A written object must not be refused: the write cannot be repeated.
      if ((encoder.parses || converts) && source.transient !== true)
        keepStoredWithin(exchange.bounds, source.bytes.length);
      return answer(200, source);
    },
    written: async (code, written) => {
      const source = writtenSource(written);
      if (endpoint.stored.custom === undefined) return answer(code, source);
      return answer(code, { ...source, fields: { apiVersion: apiVersionOf(endpoint.row.hub) } });
    },
  };
}

/** One page of a collection. */
export interface AnsweredPage {
  readonly metadata: ListMeta;
  readonly entries: readonly Source[];
}

/**
 * The same for lists: returns a function that responds with a list. `encode` encodes elements that are too
 * large for this thread.
 */
export function listAnswer(
  exchange: Exchange,
  { endpoint }: Pick<Target, 'endpoint'>,
  encode?: EncodeElement,
): (page: AnsweredPage) => Promise<Answer> {
  const encoder = encoderOf(exchange, endpoint, 'list');
  const elsewhere = elsewhereOf(exchange, { endpoint, encoder }, encode);
  const converts = needsConversion(endpoint, encoder);
  return async ({ metadata: found, entries: stored }) => {
    const metadata = exchange.showsLinks === true ? { selfLink: writtenPath(exchange), ...found } : found;
    if (encoder.refusal !== undefined) throw encoder.refusal;
    const entries = converts ? await convertedPage(exchange, { endpoint, elsewhere }, stored) : stored;
    const body = await encoder.list(metadata, entries, elsewhere);
    exchange.audit?.responseObject(async () => {
      // A stream can be read only once, and it belongs to the client.
      if (Buffer.isBuffer(body) && isJson(encoder)) return body;
      const json = isJson(encoder) ? encoder : jsonEncoderOf(exchange, endpoint);
      return json.list(metadata, await convertedSources(endpoint, entries, exchange.signal));
    });
    return compressed(exchange, { code: 200, headers: { 'Content-Type': encoder.contentType }, body });
  };
}

/**
 * The page with all conversions by webhook, so that their errors come before any effect. Throws
 * InternalError (500), and the reason of the signal.
 */
export async function convertedBefore(
  exchange: Exchange,
  { endpoint }: Pick<Target, 'endpoint'>,
  page: AnsweredPage,
): Promise<AnsweredPage> {
  if (!needsConversion(endpoint, encoderOf(exchange, endpoint, 'list'))) return page;
  return { ...page, entries: await convertedSources(endpoint, page.entries, exchange.signal) };
}

async function convertedSource(endpoint: Endpoint, source: Source, signal: AbortSignal): Promise<Source> {
  const [converted = source] = await convertedSources(endpoint, [source], signal);
  return converted;
}

/**
 * Objects that are too large for this thread are converted where they are encoded, before the first byte of
 * the list is sent: a failure is an error response.
 */
async function convertedPage(
  { signal }: Exchange,
  { endpoint, elsewhere }: { readonly endpoint: Endpoint; readonly elsewhere: OffloadedEncoder | undefined },
  entries: readonly Source[],
): Promise<readonly Source[]> {
  const large = new Set<Source>();
  for (const source of entries) {
    const made = elsewhere?.(source);
    if (made === undefined) continue;
    await made;
    large.add(source);
  }
  const small = entries.filter((source) => !large.has(source));
  const converted = (await convertedSources(endpoint, small, signal)).values();
  return entries.map((source) => (large.has(source) ? source : (converted.next().value ?? source)));
}

function isJson({ contentType }: ObjectEncoder): boolean {
  return contentType === MEDIA_TYPE.json;
}

/** Audit events have objects as JSON, whatever format the client gets. */
function jsonEncoderOf({ showsLinks }: Exchange, endpoint: Endpoint, place?: LinkPlace): ObjectEncoder {
  const plain = { headers: {}, query: new URLSearchParams() };
  return encoderOf(showsLinks === true ? { ...plain, showsLinks } : plain, endpoint, 'object', place);
}

/** A JSON response of a value without a kind. Values with a kind use `documentAnswer` of `encoding`. */
export function jsonAnswer(code: number, document: unknown): Answer {
  return { code, headers: JSON_HEADERS, body: jsonLine(document) };
}

/** The plain text 404 of Go servers for an unknown path. */
export function pageNotFound(): Answer {
  return {
    code: 404,
    headers: { 'Content-Type': 'text/plain; charset=utf-8', 'X-Content-Type-Options': 'nosniff' },
    body: Buffer.from('404 page not found\n'),
  };
}
