import { parseGroupVersion } from '../../../shared/api/resources';
import type { Status } from '../../../shared/errors/status-error';
import { GROUP, MEDIA_TYPE } from '../../../shared/names';
import { encodeProtobuf } from '../../../shared/protobuf/encode';
import { wrapEnvelope } from '../../../shared/protobuf/envelope';
import type { MessageType } from '../../../shared/schema/types';
import { messageTypeOfKind } from '../../../shared/schema/types';
import { stringifyExact } from '../../../shared/object/exact-text';
import type { Answer, Exchange } from '../request/exchange';
import { compressed } from './compression';
import type { Negotiated, Offer } from './negotiation';
import { DOCUMENT_OFFER, negotiate } from './negotiation';
import { prettyJson } from './pretty';
import { yamlOf } from './yaml';

/** A value with a kind: a Status, a review, a discovery document. */
export interface Document {
  readonly kind: string;
  readonly apiVersion?: string;
}

/** Formats a value in the negotiated format. The schema must know its kind. Throws NotAcceptable (406). */
export async function documentAnswer(
  exchange: Pick<Exchange, 'headers' | 'query' | 'audit' | 'isCompressible'>,
  code: number,
  document: Document,
  offer: Offer = DOCUMENT_OFFER,
): Promise<Answer> {
  const answer = plainAnswer(code, document, negotiate(exchange, offer));
  exchange.audit?.responseObject(() => Buffer.from(jsonText(document)));
  if (isStatus(document)) exchange.audit?.responseStatus(document);
  return compressed(exchange, answer);
}

function isStatus(document: Document): document is Document & Status {
  return document.kind === 'Status';
}

/** Formats an error; in JSON if the client accepts no offered format. */
export function errorAnswer(
  exchange: Pick<Exchange, 'headers' | 'query'>,
  code: number,
  status: Document,
): Answer {
  let negotiated: Negotiated = { format: 'json', shape: undefined, pretty: false };
  try {
    negotiated = negotiate(exchange, DOCUMENT_OFFER);
  } catch {
    // The client must see the first error, not the failed negotiation.
  }
  return plainAnswer(code, status, negotiated);
}

function plainAnswer(code: number, document: Document, negotiated: Negotiated): Answer {
  const { format, pretty, protobufType = MEDIA_TYPE[format] } = negotiated;
  return {
    code,
    headers: { 'Content-Type': protobufType },
    body: FORMATTERS[format](document, pretty),
  };
}

const FORMATTERS: Readonly<Record<Negotiated['format'], (document: Document, pretty: boolean) => Buffer>> = {
  json: (document, pretty) => {
    const bytes = Buffer.from(`${jsonText(document)}\n`);
    return pretty ? prettyJson(bytes) : bytes;
  },
  yaml: (document) => Buffer.from(yamlOf(JSON.parse(jsonText(document)))),
  protobuf: (document) => {
    // The oldest discovery documents have no version here either.
    const { kind, apiVersion = '' } = document;
    return wrapEnvelope({ kind, apiVersion, raw: encodeProtobuf(typeOf(kind, apiVersion), document) });
  },
};

/** Formats any value as JSON, also with integers of 64 bits. */
export function jsonText(document: unknown): string {
  try {
    return JSON.stringify(document);
  } catch (error) {
    if (error instanceof TypeError && /BigInt/.test(error.message)) return stringifyExact(document);
    throw error;
  }
}

/** Kinds of meta/v1 are part of every group version. */
function typeOf(kind: string, apiVersion: string): MessageType {
  const type =
    messageTypeOfKind({ ...parseGroupVersion(apiVersion), kind }) ??
    messageTypeOfKind({ group: GROUP.meta, version: 'v1', kind });
  if (type === undefined) throw new Error(`no message is known for ${apiVersion} ${kind}`);
  return type;
}
