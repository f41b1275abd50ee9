import { StatusError } from '../../../shared/errors/status-error';
import { MEDIA_TYPE } from '../../../shared/names';
import { compressed } from '../../engine/encoding/compression';
import { parseAccept } from '../../engine/encoding/media-type';
import type { Answer, Exchange } from '../../engine/request/exchange';
import type { Registry } from '../../engine/registry/registry';
import { methodNotAllowed } from '../../engine/handlers/target';
import type { OtherDocument } from './aggregated/other-documents';
import type { DocumentSet, HashedDocument } from './document-set';
import { createDocumentSets, V3_ROOT } from './document-set';
import type { DocumentOptions } from './documents';

/** Paths for people; those of the group versions stand in the index of v3. */
export const OPENAPI_PATHS: readonly string[] = ['/openapi/v2', '/openapi/v3'];

const SWAGGER_PROTOBUF = 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf';
/** What clients have always asked for. An `@` is not allowed in a media type, so that they could not read it in an answer. */
const SWAGGER_PROTOBUF_ASKED = 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf';

/**
 * Answers `/openapi/v2`, `/openapi/v3` and the documents below it; undefined for any other path. Documents are made when they are first
 * asked for. Throws NotAcceptable (406) and MethodNotAllowed (405).
 */
export type OpenApi = (registry: Registry, exchange: Exchange) => Promise<Answer> | undefined;

/** For all registries of one process: they have what is built in in common. `others` are of the servers behind this one. */
export function createOpenApi(options: DocumentOptions, others?: () => readonly OtherDocument[]): OpenApi {
  const documentsOf = createDocumentSets(options, others);
  return (registry, exchange) => answerOpenApi(() => documentsOf(registry), exchange);
}

function answerOpenApi(documentsOf: () => DocumentSet, exchange: Exchange): Promise<Answer> | undefined {
  const { path } = exchange;
  const isOpenApi = path === '/openapi/v2' || path === V3_ROOT || path.startsWith(`${V3_ROOT}/`);
  if (!isOpenApi) return undefined;
  const documents = documentsOf();
  const part = path.slice(V3_ROOT.length + 1);
  if (path.startsWith(`${V3_ROOT}/`) && !documents.partNames.has(part)) return undefined;
  if (exchange.method !== 'GET' && exchange.method !== 'HEAD') throw methodNotAllowed();
  if (path === '/openapi/v2') return answerSwagger(documents, exchange);
  requireJson(exchange);
  return path === V3_ROOT ? answerIndex(documents, exchange) : answerPart(documents, exchange, part);
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

/** A client that comes with the hash of an older document is led to the one of today. */
async function answerPart(documents: DocumentSet, exchange: Exchange, part: string): Promise<Answer> {
  const document = await documents.part(part);
  const asked = exchange.query.get('hash') ?? '';
  if (asked !== '' && asked !== document.hash) {
    const location = `${V3_ROOT}/${part}?hash=${document.hash}`;
    return { code: 301, headers: { Location: location }, body: Buffer.alloc(0) };
  }
  return answerDocument(exchange, document, { 'Content-Type': MEDIA_TYPE.json });
}

/** 304 where the client has it already. */
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

/** The media type of `types` that the client likes best, the first one for a wildcard. Throws NotAcceptable (406). */
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
