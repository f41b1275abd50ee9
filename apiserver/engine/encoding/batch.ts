/** Bytes handed to the listener at a time: large enough to be cheap, small enough to leave the event loop free. */
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
    // Not by `copy`, which takes as long for a short element as the copying itself.
    this.#buffer.set(end === bytes.length ? bytes : bytes.subarray(0, end), this.#length);
    this.#length += end;
  }

  /** Between elements, where a text of one character would take a call out of JavaScript. */
  byte(byte: number): void {
    this.#room(1);
    this.#push(byte);
  }

  /** A Protobuf varint of up to 32 bits. */
  varint(value: number): void {
    this.#room(5);
    let rest = value;
    for (; rest >= CONTINUED; rest >>>= 7) this.#push((rest & 0x7f) | CONTINUED);
    this.#push(rest);
  }

  /** What was collected, to keep; the batch is empty again. */
  take(): Buffer {
    const taken = this.#buffer.subarray(0, this.#length);
    this.#buffer = Buffer.alloc(0);
    this.#length = 0;
    return taken;
  }

  /** What was collected, to be used up before anything else is collected in the same memory; the batch is empty again. */
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

  /** Short answers take little memory; only a second growth makes it a batch of full size. */
  #startBytes(): number {
    return this.#length === 0 ? 4 * 1024 : this.#length < BATCH_BYTES / 8 ? 0 : BATCH_BYTES + SLACK_BYTES;
  }
}

/** Batches, each to be used up before the next one is asked for, and at the end what was too little for another. */
export type Batches = AsyncGenerator<Buffer, Buffer>;

/** Resolves when the first batch is there: with one buffer when everything fits a batch, else with a stream. */
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
