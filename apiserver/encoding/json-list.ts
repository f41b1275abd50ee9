import type { ListMeta } from '../../shared/meta/object';

/** Bytes handed to the door at a time: large enough to be cheap, small enough to leave the event loop free. */
const BATCH_BYTES = 256 * 1024;

export interface ListHead {
  readonly kind: string;
  readonly apiVersion: string;
  readonly metadata: ListMeta;
}

/**
 * A typed list as JSON, in batches of about 256 KB. `items` are the bytes of cache entries; items of a typed list carry neither kind
 * nor apiVersion, as the Go server writes them.
 */
export function* jsonListBatches(head: ListHead, items: Iterable<Buffer>): Generator<Buffer> {
  const opening = `{"kind":${JSON.stringify(head.kind)},"apiVersion":${JSON.stringify(head.apiVersion)},"metadata":${JSON.stringify(head.metadata)},"items":[`;
  let pieces: Buffer[] = [Buffer.from(opening)];
  let bytes = 0;
  let separator = FIRST;
  for (const item of items) {
    pieces.push(separator, item);
    separator = NEXT;
    bytes += item.length;
    if (bytes >= BATCH_BYTES) {
      yield Buffer.concat(pieces);
      pieces = [];
      bytes = 0;
    }
  }
  pieces.push(CLOSING);
  yield Buffer.concat(pieces);
}

const FIRST = Buffer.from('{');
const NEXT = Buffer.from(',{');
const CLOSING = Buffer.from(']}\n');

/** A short list in one buffer, a long one as a stream that gives the event loop a turn between batches. */
export function jsonListBody(head: ListHead, items: readonly Buffer[]): Buffer | AsyncIterable<Buffer> {
  const bytes = items.reduce((sum, item) => sum + item.length, 0);
  if (bytes < BATCH_BYTES) return Buffer.concat([...jsonListBatches(head, items)]);
  return streamed(jsonListBatches(head, items));
}

async function* streamed(batches: Generator<Buffer>): AsyncGenerator<Buffer> {
  for (const batch of batches) {
    yield batch;
    await new Promise<void>((resolve) => {
      setImmediate(resolve);
    });
  }
}
