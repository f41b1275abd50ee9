import { createHash } from 'node:crypto';
import { StatusError } from '../../shared/errors/status-error';
import { MEDIA_TYPE } from '../../shared/names';
import { compressed } from '../encoding/compression';
import { parseAccept } from '../encoding/media-type';
import type { Answer, Exchange } from '../exchange/exchange';
import type { Registry } from '../registry/registry';
import { methodNotAllowed } from '../verbs/target';
import type { DocumentOptions } from './documents';
import { partsOf } from './documents';
import { swaggerProtobuf } from './gnostic';
import { openapi3Json } from './openapi3';
import { swaggerJson } from './swagger';
import { turn } from './turn';

/** Paths for people; those of the group versions stand in the index of v3. */
export const OPENAPI_PATHS: readonly string[] = ['/openapi/v2', '/openapi/v3'];

const SWAGGER_PROTOBUF = 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf';
/** What clients have always asked for. An `@` is not allowed in a media type, so that they could not read it in an answer. */
const SWAGGER_PROTOBUF_ASKED = 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf';
const V3_ROOT = '/openapi/v3';

/**
 * Answers `/openapi/v2`, `/openapi/v3` and the documents below it; undefined for any other path. Documents are made when they are first
 * asked for and kept as long as the registry. Throws NotAcceptable (406) and MethodNotAllowed (405).
 */
export function answerOpenApi(
  registry: Registry,
  exchange: Exchange,
  options: DocumentOptions,
): Promise<Answer> | undefined {
  const path = exchange.path.endsWith('/') ? exchange.path.slice(0, -1) : exchange.path;
  const isOpenApi = path === '/openapi/v2' || path === V3_ROOT || path.startsWith(`${V3_ROOT}/`);
  if (!isOpenApi) return undefined;
  const documents = documentsOf(registry, options);
  const part = path.slice(V3_ROOT.length + 1);
  if (path.startsWith(`${V3_ROOT}/`) && !documents.partNames.has(part)) return undefined;
  if (exchange.method !== 'GET' && exchange.method !== 'HEAD') throw methodNotAllowed();
  if (path === '/openapi/v2') return answerSwagger(documents, exchange);
  requireJson(exchange);
  return path === V3_ROOT ? answerIndex(documents, exchange) : answerPart(documents, exchange, part);
}

async function answerSwagger(documents: Documents, exchange: Exchange): Promise<Answer> {
  const asked = offered(exchange, [MEDIA_TYPE.json, SWAGGER_PROTOBUF, SWAGGER_PROTOBUF_ASKED]);
  const isJson = asked === MEDIA_TYPE.json;
  const document = await (isJson ? documents.swagger() : documents.swaggerProtobuf());
  const type = isJson ? MEDIA_TYPE.json : SWAGGER_PROTOBUF;
  const answer = await answerDocument(exchange, document, { 'Content-Type': type });
  return { ...answer, headers: { ...answer.headers, Vary: 'Accept, Accept-Encoding' } };
}

async function answerIndex(documents: Documents, exchange: Exchange): Promise<Answer> {
  return answerDocument(exchange, await documents.index(), { 'Content-Type': MEDIA_TYPE.json });
}

/** A client that comes with the hash of an older document is led to the one of today. */
async function answerPart(documents: Documents, exchange: Exchange, part: string): Promise<Answer> {
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
  { body, hash }: HashedDocument,
  headers: Readonly<Record<string, string>>,
): Promise<Answer> {
  const etag = `"${hash}"`;
  if (isKnown(exchange.headers['if-none-match'], etag)) {
    return { code: 304, headers: { ...headers, ETag: etag }, body: Buffer.alloc(0) };
  }
  return compressed(exchange, { code: 200, headers: { ...headers, ETag: etag }, body });
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

interface HashedDocument {
  readonly body: Buffer;
  /** Hexadecimal. */
  readonly hash: string;
}

/** The documents of one registry, each made once. */
interface Documents {
  readonly partNames: ReadonlySet<string>;
  readonly swagger: () => Promise<HashedDocument>;
  readonly swaggerProtobuf: () => Promise<HashedDocument>;
  readonly index: () => Promise<HashedDocument>;
  /** `name` is one of `partNames`. */
  readonly part: (name: string) => Promise<HashedDocument>;
}

const documentsByRegistry = new WeakMap<Registry, Documents>();

function documentsOf(registry: Registry, options: DocumentOptions): Documents {
  const known = documentsByRegistry.get(registry);
  if (known !== undefined) return known;
  const made = createDocuments(registry, options);
  documentsByRegistry.set(registry, made);
  return made;
}

function createDocuments(registry: Registry, options: DocumentOptions): Documents {
  const parts = new Map(
    partsOf(registry, options).map((part) => [
      part.name,
      once(async () => openapi3Json(registry, part, options.version)),
    ]),
  );
  const part = async (name: string): Promise<HashedDocument> => {
    const make = parts.get(name);
    if (make === undefined) throw new Error(`no part ${name}`);
    return make();
  };
  return {
    partNames: new Set(parts.keys()),
    swagger: once(async () => swaggerJson(registry, options)),
    swaggerProtobuf: once(async () => swaggerProtobuf(registry, options)),
    index: once(async () => {
      const paths: Record<string, object> = {};
      for (const name of [...parts.keys()].toSorted()) {
        const { hash } = await part(name);
        // Small documents have no pause of their own.
        await turn();
        paths[name] = { serverRelativeURL: `${V3_ROOT}/${name}?hash=${hash}` };
      }
      return Buffer.from(JSON.stringify({ paths }));
    }),
    part,
  };
}

/** Everybody who asks while the document is made waits for the same one. */
function once(make: () => Promise<Buffer>): () => Promise<HashedDocument> {
  let made: Promise<HashedDocument> | undefined;
  return async () => {
    made ??= hashed(make);
    return made;
  };
}

async function hashed(make: () => Promise<Buffer>): Promise<HashedDocument> {
  const body = await make();
  return { body, hash: createHash('sha512').update(body).digest('hex').toUpperCase() };
}
