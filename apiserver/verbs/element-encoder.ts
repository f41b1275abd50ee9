import type { Elsewhere, ObjectEncoder } from '../http/encoding/object-encoder';
import { ENCODED_OBJECTS } from '../http/encoding/encoded-cache';
import type { Source } from '../http/encoding/source';
import type { Exchange } from '../exchange/exchange';
import type { Endpoint } from '../registry/resource';

/** How an object is to be written as an element of a list, as data. */
export interface ElementRequest {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  /** The Accept header. */
  readonly accept: string | undefined;
  /** The query as received, without the question mark. */
  readonly search: string;
  readonly bytes: Buffer;
  readonly fields: Readonly<Record<string, string>> | undefined;
}

/** Writes elements of lists in another thread. Rejects when that thread is lost, does not know the resource, or the signal aborts. */
export type EncodeElement = (request: ElementRequest, signal: AbortSignal) => Promise<Buffer>;

/** Has elements beyond the bounds of the request made by `encode`, once for each version of an object; undefined where all are made here. */
export function elsewhereOf(
  exchange: Exchange,
  { endpoint, encoder }: { readonly endpoint: Endpoint; readonly encoder: ObjectEncoder },
  encode: EncodeElement | undefined,
): Elsewhere | undefined {
  const { bounds } = exchange;
  if (encode === undefined || bounds === undefined || !encoder.parses) return undefined;
  const id = `element ${encoder.id}`;
  return (source) => {
    if (source.bytes.length <= bounds.storedBytesMax) return undefined;
    const known = ENCODED_OBJECTS.peek(source, id);
    if (known !== undefined) return Promise.resolve(known);
    const made = encode(requestOf(exchange, endpoint, source), exchange.signal);
    return orMadeHere(made, exchange.signal, { source, encoder, id });
  };
}

async function orMadeHere(
  made: Promise<Buffer>,
  signal: AbortSignal,
  { source, encoder, id }: { readonly source: Source; readonly encoder: ObjectEncoder; readonly id: string },
): Promise<Buffer> {
  let element: Buffer;
  try {
    element = await made;
  } catch {
    // Nobody holds up others for a client that has left; for one that waits it is better late than not at all.
    signal.throwIfAborted();
    element = encoder.element(source);
  }
  return encoder.tellsAge === true ? element : ENCODED_OBJECTS.get(source, id, () => element);
}

function requestOf(
  { headers, query }: Exchange,
  { row }: Endpoint,
  { bytes, fields }: Source,
): ElementRequest {
  const { group, version, resource } = row;
  return { group, version, resource, accept: headers.accept, search: query.toString(), bytes, fields };
}
