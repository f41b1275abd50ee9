/** The meaning of the next byte of a header block. */
type Next = 'field' | 'index' | 'length of name' | 'length of value' | 'size of table';

const INDEXED = 0x80;
const REMEMBERED = 0x40;
const TABLE_SIZE = 0x20;
/** The bits of an integer in its first byte, by representation (RFC 7541, 5.1). */
const INDEX_BITS = 0x7f;
const REMEMBERED_BITS = 0x3f;
const TABLE_SIZE_BITS = 0x1f;
const LITERAL_BITS = 0x0f;
const LENGTH_BITS = 0x7f;
/** Continuation bytes of an integer: seven bits, and a flag for more. */
const MORE = 0x80;
const MORE_BITS = 0x7f;
const SHIFT_STEP = 7;
const SHIFT_MAX = 21;

/**
 * Counts the fields of one HPACK header block, piece by piece. The count depends on the bytes of the block alone: not
 * on the dynamic table, and not on names and values.
 */
export class FieldCounter {
  #fields = 0;
  #next: Next = 'field';
  #isWithinInteger = false;
  #integer = 0;
  #shift = 0;
  #isNameIndexed = false;
  /** Remaining bytes of the current name or value. */
  #skip = 0;
  #isBroken = false;

  /** The number of fields; undefined if the bytes are not a valid header block. */
  get fields(): number | undefined {
    const isWhole = this.#next === 'field' && this.#skip === 0 && !this.#isWithinInteger;
    return isWhole && !this.#isBroken ? this.#fields : undefined;
  }

  add(bytes: Buffer): void {
    let at = 0;
    while (at < bytes.length && !this.#isBroken) {
      if (this.#skip > 0) {
        const skipped = Math.min(this.#skip, bytes.length - at);
        this.#skip -= skipped;
        at += skipped;
      } else {
        const byte = bytes[at] ?? 0;
        at += 1;
        if (this.#isWithinInteger) this.#goOn(byte);
        else this.#begin(byte);
      }
    }
  }

  #begin(byte: number): void {
    if (this.#next === 'field') this.#beginField(byte);
    else this.#beginInteger(byte, LENGTH_BITS, this.#next);
  }

  #beginField(byte: number): void {
    if ((byte & INDEXED) !== 0) {
      this.#fields += 1;
      this.#beginInteger(byte, INDEX_BITS, 'index');
      return;
    }
    if ((byte & REMEMBERED) === 0 && (byte & TABLE_SIZE) !== 0) {
      this.#beginInteger(byte, TABLE_SIZE_BITS, 'size of table');
      return;
    }
    const bits = (byte & REMEMBERED) === 0 ? LITERAL_BITS : REMEMBERED_BITS;
    this.#fields += 1;
    this.#isNameIndexed = (byte & bits) !== 0;
    // An indexed name is followed by the value, otherwise the name is next.
    if (this.#isNameIndexed) this.#beginInteger(byte, bits, 'index');
    else this.#next = 'length of name';
  }

  #beginInteger(byte: number, bits: number, what: Next): void {
    this.#next = what;
    this.#integer = byte & bits;
    if (this.#integer < bits) this.#ended();
    else {
      this.#isWithinInteger = true;
      this.#shift = 0;
    }
  }

  #goOn(byte: number): void {
    this.#integer += (byte & MORE_BITS) << this.#shift;
    if ((byte & MORE) === 0) {
      this.#isWithinInteger = false;
      this.#ended();
    } else if (this.#shift === SHIFT_MAX) this.#isBroken = true;
    else this.#shift += SHIFT_STEP;
  }

  #ended(): void {
    switch (this.#next) {
      case 'length of name':
        this.#skip = this.#integer;
        this.#next = 'length of value';
        return;
      case 'length of value':
        this.#skip = this.#integer;
        this.#next = 'field';
        this.#isNameIndexed = false;
        return;
      case 'index':
        this.#next = this.#isNameIndexed ? 'length of value' : 'field';
        return;
      case 'field':
      case 'size of table':
        this.#next = 'field';
    }
  }
}
