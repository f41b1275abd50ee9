import type { OffloadedEncoder, ObjectEncoder } from '../encoding/object-encoder';
import { ENCODED_OBJECTS } from '../encoding/encoded-cache';
import type { Source } from '../encoding/source';
import type { FrameWorker, ObjectEventType } from '../watch-cache/state/entry';
import type { Exchange } from '../request/exchange';
import { converting } from '../registry/conversion-needed';
import type { Endpoint } from '../registry/resource';

/** A request to encode an object as a list element or a watch frame, as data. */
export interface ElementRequest {
  /** The event type of a frame; absent for a list element. */
  readonly event?: ObjectEventType;
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  /** The Accept header. */
  readonly accept: string | undefined;
  /** The query as received, without the question mark. */
  readonly search: string;
  readonly bytes: Buffer;
  readonly fields: Readonly<Record<string, string>> | undefined;
  /** As in {@link Source}. */
  readonly isShown: boolean;
}

/**
 * Encodes list elements and frames on a worker. Rejects if the worker is lost or does not know the resource,
 * or if the signal aborts.
 */
export type EncodeElement = (request: ElementRequest, signal: AbortSignal) => Promise<Buffer>;

/**
 * Offloads elements beyond the bounds of the request to `encode`, once for each version of an object;
 * undefined if all are encoded here.
 */
export function elsewhereOf(
  exchange: Exchange,
  { endpoint, encoder }: { readonly endpoint: Endpoint; readonly encoder: ObjectEncoder },
  encode: EncodeElement | undefined,
): OffloadedEncoder | undefined {
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

/** Timeout of a worker for a frame. */
const FRAME_MS_MAX = 60_000;

/**
 * The same for the frames of a watch. Watchers with the same representation share each frame, also while it
 * is encoded (single-flight).
 */
export function framesElsewhereOf(
  exchange: Exchange,
  { endpoint, encoder }: { readonly endpoint: Endpoint; readonly encoder: ObjectEncoder },
  encode: EncodeElement | undefined,
): FrameWorker | undefined {
  const { bounds } = exchange;
  if (encode === undefined || bounds === undefined || !encoder.parses) return undefined;
  return (event, entry) => {
    if (entry.bytes.length <= bounds.storedBytesMax) return undefined;
    const id = `frame ${event} ${encoder.id}`;
    const known = ENCODED_OBJECTS.peek(entry, id);
    if (known !== undefined) return Promise.resolve(known);
    return madeOnce(entry, id, async () => {
      // Other watchers may wait for the frame after this client has left.
      const request = { ...requestOf(exchange, endpoint, entry), event };
      const frame = await encode(request, AbortSignal.timeout(FRAME_MS_MAX)).catch(() =>
        encoder.frame(event, entry),
      );
      return encoder.tellsAge === true ? frame : ENCODED_OBJECTS.get(entry, id, () => frame);
    });
  };
}

const framesUnderWay = new WeakMap<object, Map<string, Promise<Buffer>>>();

function madeOnce(entry: object, id: string, make: () => Promise<Buffer>): Promise<Buffer> {
  const ofEntry = framesUnderWay.get(entry) ?? new Map<string, Promise<Buffer>>();
  framesUnderWay.set(entry, ofEntry);
  const known = ofEntry.get(id);
  if (known !== undefined) return known;
  const made = make().finally(() => ofEntry.delete(id));
  ofEntry.set(id, made);
  return made;
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
    // A client that has left must not hold up others; for one that waits, encoding on the event loop is
    // better than an error.
    signal.throwIfAborted();
    element = await converting(() => encoder.element(source), signal);
  }
  return encoder.tellsAge === true ? element : ENCODED_OBJECTS.get(source, id, () => element);
}

function requestOf(
  { headers, query }: Exchange,
  { row }: Endpoint,
  { bytes, fields, isShown }: Source,
): ElementRequest {
  const { group, version, resource } = row;
  return {
    group,
    version,
    resource,
    accept: headers.accept,
    search: query.toString(),
    bytes,
    fields,
    isShown: isShown === true,
  };
}
