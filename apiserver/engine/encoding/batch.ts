/** Size of a batch: large enough to be cheap, small enough to leave the event loop free. */
export const BATCH_BYTES = 256 * 1024;

/** Room after a full batch for the element that filled it; a larger element enlarges its batch. */
const SLACK_BYTES = 32 * 1024;
const CONTINUED = 0x80;

/** Collects the pieces of a long answer in buffers of about 256 KB. */
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
    // Not `copy`, whose call takes as long as the copying of a short element.
    this.#buffer.set(end === bytes.length ? bytes : bytes.subarray(0, end), this.#length);
    this.#length += end;
  }

  /** Adds one byte. Adding a text of one character would call out of JavaScript. */
  byte(byte: number): void {
    this.#room(1);
    this.#push(byte);
  }

  /** Adds a Protobuf varint of up to 32 bits. */
  varint(value: number): void {
    this.#room(5);
    let rest = value;
    for (; rest >= CONTINUED; rest >>>= 7) this.#push((rest & 0x7f) | CONTINUED);
    this.#push(rest);
  }

  /** Returns the collected bytes for the caller to keep, and empties the batch. */
  take(): Buffer {
    const taken = this.#buffer.subarray(0, this.#length);
    this.#buffer = Buffer.alloc(0);
    this.#length = 0;
    return taken;
  }

  /** Returns the collected bytes, valid until the next bytes are added, and empties the batch. */
  lend(): Buffer {
    const lent = this.#buffer.subarray(0, this.#length);
    this.#length = 0;
    return lent;
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

  /** A short answer takes little memory; the second growth allocates a full batch. */
  #startBytes(): number {
    return this.#length === 0 ? 4 * 1024 : this.#length < BATCH_BYTES / 8 ? 0 : BATCH_BYTES + SLACK_BYTES;
  }
}

/** Batches, each consumed before the next one is requested; the return value is the last, incomplete one. */
export type Batches = AsyncGenerator<Buffer, Buffer>;

/** Resolves when the first batch is complete: with one buffer if everything fits, else with a stream. */
export async function bodyOf(batches: Batches): Promise<Buffer | AsyncIterable<Buffer>> {
  const first = await batches.next();
  return first.done === true ? first.value : streamed(first.value, batches);
}

async function* streamed(first: Buffer, batches: Batches): AsyncGenerator<Buffer> {
  try {
    yield first;
    let step = await batches.next();
    for (; step.done !== true; step = await batches.next()) yield step.value;
    yield step.value;
  } finally {
    await batches.return(NOTHING);
  }
}

const NOTHING = Buffer.alloc(0);
