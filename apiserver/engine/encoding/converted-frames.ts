import { StatusError, internalError } from '../../../shared/errors/status-error';
import type { Representation } from '../watch-cache/state/entry';
import type { Endpoint } from '../registry/resource';
import { storedVersionOf } from '../registry/resource';
import { convertedSources } from './converted-sources';
import type { ObjectEncoder } from './object-encoder';
import type { Source } from './source';

/**
 * The first byte of a frame, by its place in the list: a complete frame, or an event whose object has to be
 * converted.
 */
const KINDS = ['COMPLETE', 'ADDED', 'MODIFIED', 'DELETED'] as const;
type Kind = (typeof KINDS)[number];

/** The kind, and the number of bytes that follow. */
const HEAD_BYTES = 5;
const LENGTH_AT = 1;
const VERSION_LENGTH_BYTES = 2;

/**
 * Encodes the frames of a watch before conversion. The cache shares them among watchers and cannot wait for a
 * webhook, so objects in another version than the endpoint’s are passed on as stored.
 */
export function unconvertedFrames({ stored, apiVersion }: Endpoint, encoder: ObjectEncoder): Representation {
  return {
    id: `unconverted ${encoder.id}`,
    tellsAge: encoder.tellsAge === true,
    frame: (type, entry) => {
      const from = storedVersionOf(stored, entry.fields);
      if (from === apiVersion) return framed('COMPLETE', encoder.frame(type, entry));
      const version = Buffer.from(from);
      // A group alone may have 253 bytes, too many for a length of one byte.
      const length = Buffer.alloc(VERSION_LENGTH_BYTES);
      length.writeUInt16BE(version.length);
      return framed(type, length, version, entry.bytes);
    },
    bookmark: (revision, initialEventsEnd) =>
      framed('COMPLETE', encoder.bookmark(revision, initialEventsEnd)),
    error: (status) => framed('COMPLETE', encoder.error(status)),
  };
}

/**
 * Converts the frames for their reader, each event once for all readers. An object that cannot be converted ends the
 * watch with an ERROR frame: a client that continued would never learn of it.
 */
export async function* convertedFrames(
  chunks: AsyncIterable<Buffer>,
  { endpoint, encoder }: { readonly endpoint: Endpoint; readonly encoder: ObjectEncoder },
  signal: AbortSignal,
): AsyncGenerator<Buffer> {
  for await (const chunk of chunks) {
    const parts = [...partsOf(chunk)];
    const needed = parts.flatMap(({ source }) => source ?? []);
    let shown: readonly Source[];
    try {
      shown = needed.length === 0 ? [] : await convertedSources(endpoint, needed, signal);
    } catch (error) {
      signal.throwIfAborted();
      yield encoder.error((error instanceof StatusError ? error : internalError(error)).status);
      return;
    }
    const converted = shown.values();
    yield Buffer.concat(
      parts.map(({ kind, bytes }) => {
        const source = kind === 'COMPLETE' ? undefined : converted.next().value;
        return kind === 'COMPLETE' || source === undefined ? bytes : encoder.frame(kind, source);
      }),
    );
  }
}

interface Part {
  readonly kind: Kind;
  readonly bytes: Buffer;
  /** Undefined for a complete frame. */
  readonly source: Source | undefined;
}

function framed(kind: Kind, ...parts: readonly Buffer[]): Buffer {
  const head = Buffer.alloc(HEAD_BYTES);
  head[0] = KINDS.indexOf(kind);
  head.writeUInt32BE(
    parts.reduce((sum, { length }) => sum + length, 0),
    LENGTH_AT,
  );
  return Buffer.concat([head, ...parts]);
}

/** Splits a chunk, which holds whole frames. */
function* partsOf(chunk: Buffer): Generator<Part> {
  for (let at = 0; at < chunk.length;) {
    const kind = KINDS[chunk[at] ?? 0] ?? 'COMPLETE';
    const from = at + HEAD_BYTES;
    at = from + chunk.readUInt32BE(at + LENGTH_AT);
    const bytes = chunk.subarray(from, at);
    yield { kind, bytes, source: kind === 'COMPLETE' ? undefined : sourceIn(bytes) };
  }
}

function sourceIn(bytes: Buffer): Source {
  const end = VERSION_LENGTH_BYTES + bytes.readUInt16BE();
  const apiVersion = bytes.toString('utf8', VERSION_LENGTH_BYTES, end);
  return { bytes: bytes.subarray(end), fields: { apiVersion }, transient: true };
}
