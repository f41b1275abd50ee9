/** Bytes handed to the door at a time: large enough to be cheap, small enough to leave the event loop free. */
export const BATCH_BYTES = 256 * 1024;

/** Room behind a full batch for the element that filled it; a larger element makes its batch larger. */
const SLACK_BYTES = 32 * 1024;
const CONTINUED = 0x80;

/** Collects the pieces of a long answer into buffers of about 256 KB. */
export class Batch {
  #buffer = Buffer.alloc(0);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  get isFull(): boolean {
    return this.#length >= BATCH_BYTES;
  }

  text(text: string): void {
    const room = text.length * 3;
    this.#room(room);
    this.#length += this.#buffer.write(text, this.#length, 'utf8');
  }

  bytes(bytes: Buffer, end = bytes.length): void {
    this.#room(end);
    this.#length += bytes.copy(this.#buffer, this.#length, 0, end);
  }

  /** A Protobuf varint of up to 32 bits. */
  varint(value: number): void {
    this.#room(5);
    let rest = value;
    for (; rest >= CONTINUED; rest >>>= 7) this.#push((rest & 0x7f) | CONTINUED);
    this.#push(rest);
  }

  /** What was collected; the batch is empty again. */
  take(): Buffer {
    const taken = this.#buffer.subarray(0, this.#length);
    this.#buffer = Buffer.alloc(0);
    this.#length = 0;
    return taken;
  }

  #push(byte: number): void {
    this.#buffer[this.#length] = byte;
    this.#length += 1;
  }

  #room(bytes: number): void {
    const needed = this.#length + bytes;
    if (needed <= this.#buffer.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(this.#startBytes(), needed * 2));
    this.#buffer.copy(larger, 0, 0, this.#length);
    this.#buffer = larger;
  }

  /** Short answers take little memory; only a second growth makes it a batch of full size. */
  #startBytes(): number {
    return this.#length === 0 ? 4 * 1024 : this.#length < BATCH_BYTES / 8 ? 0 : BATCH_BYTES + SLACK_BYTES;
  }
}

/** Gives the event loop a turn. */
export async function nextTurn(): Promise<void> {
  await new Promise<void>((resolve) => {
    setImmediate(resolve);
  });
}

/** The batches one by one, with a turn of the event loop between them. */
export async function* streamed(batches: Iterable<Buffer>): AsyncGenerator<Buffer> {
  for (const batch of batches) {
    yield batch;
    await nextTurn();
  }
}

/** One buffer when everything fits a batch, else a stream. */
export function bodyOf(batches: Iterator<Buffer> & Iterable<Buffer>): Buffer | AsyncIterable<Buffer> {
  const first = batches.next();
  if (first.done === true) return Buffer.alloc(0);
  const second = batches.next();
  if (second.done === true) return first.value;
  return streamed(rejoined([first.value, second.value], batches));
}

function* rejoined(begun: readonly Buffer[], rest: Iterable<Buffer>): Generator<Buffer> {
  yield* begun;
  yield* rest;
}
