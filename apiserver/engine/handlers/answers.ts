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

/** Answers with one object each. */
export interface ObjectAnswers {
  /** 200 with an object. Throws TooLargeHereError for one that would have to be parsed and is beyond the request's bounds. */
  object(source: Source): Promise<Answer>;
  /** The result of a write. */
  written(code: number, written: Written): Promise<Answer>;
}

/**
 * Answers in the form that the request asks for, negotiated here and once. Throws NotAcceptable (406) for a request that could not be
 * answered in any form it accepts: to be called before anything is done for it. A form that only does not fit what the answer turns out
 * to be (one object, a list, a Status) is refused when it is there, as upstream does: what was asked for is done then. `otherPlace` is that of
 * the request, where the endpoint is another one, of what is shown.
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
      // What was just written cannot be written again.
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

/** A part of a collection, as it is answered. */
export interface AnsweredPage {
  readonly metadata: ListMeta;
  readonly entries: readonly Source[];
}

/** The same for lists: what is returned answers 200 with one. `encode` makes elements that are too large to be made here. */
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
      // A stream can be read only once, and belongs to the client.
      if (Buffer.isBuffer(body) && isJson(encoder)) return body;
      const json = isJson(encoder) ? encoder : jsonEncoderOf(exchange, endpoint);
      return json.list(metadata, await convertedSources(endpoint, entries, exchange.signal));
    });
    return compressed(exchange, { code: 200, headers: { 'Content-Type': encoder.contentType }, body });
  };
}

/**
 * The page with all that its answer needs from a webhook: what cannot be had is an error before anything is done. Throws InternalError
 * (500), and the signal's reason.
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

/** What is too large for this thread is converted where it is written, before the first byte of the list leaves: one that fails is an error. */
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

/** Audit events hold objects as JSON, whatever the client reads. */
function jsonEncoderOf({ showsLinks }: Exchange, endpoint: Endpoint, place?: LinkPlace): ObjectEncoder {
  const plain = { headers: {}, query: new URLSearchParams() };
  return encoderOf(showsLinks === true ? { ...plain, showsLinks } : plain, endpoint, 'object', place);
}

/** An answer made of a value, always in JSON; for documents of no kind. Values with a kind have `documentAnswer` of `encoding`. */
export function jsonAnswer(code: number, document: unknown): Answer {
  return { code, headers: JSON_HEADERS, body: jsonLine(document) };
}

/** What is said of a path that nothing here knows, in the words and the plain text of every Go server. */
export function pageNotFound(): Answer {
  return {
    code: 404,
    headers: { 'Content-Type': 'text/plain; charset=utf-8', 'X-Content-Type-Options': 'nosniff' },
    body: Buffer.from('404 page not found\n'),
  };
}
