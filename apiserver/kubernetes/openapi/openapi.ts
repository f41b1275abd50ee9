import { StatusError } from '../../../shared/errors/status-error';
import { MEDIA_TYPE } from '../../../shared/names';
import { compressed } from '../../engine/encoding/compression';
import { parseAccept } from '../../engine/encoding/media-type';
import type { Answer, Exchange } from '../../engine/request/exchange';
import type { PageRoutes } from '../../engine/server/page-router';
import { createPageRouter, page } from '../../engine/server/page-router';
import { methodNotAllowed } from '../../engine/handlers/target';
import type { OtherDocument } from './aggregated/other-documents';
import type { DocumentSet, HashedDocument } from './document-set';
import { createDocumentSets, V3_ROOT } from './document-set';
import type { DocumentOptions } from './documents';

const SWAGGER_PROTOBUF = 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf';
/** The media type in Accept headers of clients. An `@` is not valid in a media type, so a response cannot have it. */
const SWAGGER_PROTOBUF_ASKED = 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf';

/**
 * Creates the routes of `/openapi/v2`, `/openapi/v3` and the documents below it, which are made at their first request. They throw
 * NotAcceptable (406) and MethodNotAllowed (405). The documents of all registries of a server share those of the built-in kinds.
 *
 * @param others returns the documents of extension API servers
 */
export function createOpenApiRouter(
  options: DocumentOptions,
  others?: () => readonly OtherDocument[],
): PageRoutes {
  const documentsOf = createDocumentSets(options, others);
  const router = createPageRouter();
  router.all(
    V2_PATH,
    page(async ({ exchange, registry }) => {
      requireRead(exchange);
      return answerSwagger(documentsOf(registry), exchange);
    }),
  );
  router.all(
    V3_ROOT,
    page(async ({ exchange, registry }) => {
      requireRead(exchange);
      requireJson(exchange);
      return answerIndex(documentsOf(registry), exchange);
    }),
  );
  router.all(
    `${V3_ROOT}/*part`,
    page(async ({ exchange, registry }) => {
      const documents = documentsOf(registry);
      const part = exchange.path.slice(V3_ROOT.length + 1);
      if (!documents.partNames.has(part)) return undefined;
      requireRead(exchange);
      requireJson(exchange);
      return answerPart(documents, exchange, part);
    }),
  );
  // The index of v3 lists the paths of the group versions.
  return { router, paths: [V2_PATH, V3_ROOT] };
}

const V2_PATH = '/openapi/v2';

function requireRead({ method }: Exchange): void {
  if (method !== 'GET' && method !== 'HEAD') throw methodNotAllowed();
}

async function answerSwagger(documents: DocumentSet, exchange: Exchange): Promise<Answer> {
  const asked = offered(exchange, [MEDIA_TYPE.json, SWAGGER_PROTOBUF, SWAGGER_PROTOBUF_ASKED]);
  const isJson = asked === MEDIA_TYPE.json;
  const document = await documents.swagger(isJson ? 'json' : 'protobuf');
  const type = isJson ? MEDIA_TYPE.json : SWAGGER_PROTOBUF;
  const answer = await answerDocument(exchange, document, { 'Content-Type': type });
  return { ...answer, headers: { ...answer.headers, Vary: 'Accept, Accept-Encoding' } };
}

async function answerIndex(documents: DocumentSet, exchange: Exchange): Promise<Answer> {
  return answerDocument(exchange, await documents.index(), { 'Content-Type': MEDIA_TYPE.json });
}

/** A request with an outdated hash is redirected to the current one. */
async function answerPart(documents: DocumentSet, exchange: Exchange, part: string): Promise<Answer> {
  const document = await documents.part(part);
  const asked = exchange.query.get('hash') ?? '';
  if (asked !== '' && asked !== document.hash) {
    const location = `${V3_ROOT}/${part}?hash=${document.hash}`;
    return { code: 301, headers: { Location: location }, body: Buffer.alloc(0) };
  }
  return answerDocument(exchange, document, { 'Content-Type': MEDIA_TYPE.json });
}

/** Returns 304 if the ETag matches. */
async function answerDocument(
  exchange: Exchange,
  { pieces, hash }: HashedDocument,
  headers: Readonly<Record<string, string>>,
): Promise<Answer> {
  const etag = `"${hash}"`;
  if (isKnown(exchange.headers['if-none-match'], etag)) {
    return { code: 304, headers: { ...headers, ETag: etag }, body: Buffer.alloc(0) };
  }
  return compressed(exchange, { code: 200, headers: { ...headers, ETag: etag }, body: bodyOf(pieces) });
}

function bodyOf(pieces: readonly Buffer[]): Answer['body'] {
  const [only] = pieces;
  return only !== undefined && pieces.length === 1 ? only : inTurn(pieces);
}

async function* inTurn(pieces: readonly Buffer[]): AsyncGenerator<Buffer> {
  yield* pieces;
}

function isKnown(header: string | undefined, etag: string): boolean {
  const tags = (header ?? '').split(',').map((each) => each.trim().replace(/^W\//, ''));
  return tags.includes(etag) || tags.includes('*');
}

function requireJson(exchange: Exchange): void {
  offered(exchange, [MEDIA_TYPE.json]);
}

/** Returns the media type of `types` that the client prefers, the first one for a wildcard. Throws NotAcceptable (406). */
function offered({ headers }: Exchange, types: readonly string[]): string {
  const [first = MEDIA_TYPE.json] = types;
  if (headers.accept === undefined || headers.accept.trim() === '') return first;
  for (const { type, subtype } of parseAccept(headers.accept)) {
    const found = types.find(
      (each) =>
        (type === '*' && subtype === '*') ||
        each === `${type}/${subtype}` ||
        (subtype === '*' && each.startsWith(`${type}/`)),
    );
    if (found !== undefined) return found;
  }
  throw new StatusError('NotAcceptable', `only the following media types are accepted: ${types.join(', ')}`);
}
