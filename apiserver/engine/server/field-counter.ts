/** What the next byte of a head is. */
type Next = 'field' | 'index' | 'length of name' | 'length of value' | 'size of table';

const INDEXED = 0x80;
const REMEMBERED = 0x40;
const TABLE_SIZE = 0x20;
/** The bits of an integer in its first byte, by what it is (RFC 7541, 5.1). */
const INDEX_BITS = 0x7f;
const REMEMBERED_BITS = 0x3f;
const TABLE_SIZE_BITS = 0x1f;
const LITERAL_BITS = 0x0f;
const LENGTH_BITS = 0x7f;
/** Of the further bytes of an integer: seven bits, and whether more follow. */
const MORE = 0x80;
const MORE_BITS = 0x7f;
const SHIFT_STEP = 7;
const SHIFT_MAX = 21;

/**
 * Counts the fields of one head as it is compressed (HPACK), piece by piece. How many there are follows from its bytes alone, without what
 * earlier heads have left in the table, and without a look at names and values.
 */
export class FieldCounter {
  #fields = 0;
  #next: Next = 'field';
  #isWithinInteger = false;
  #integer = 0;
  #shift = 0;
  #isNameIndexed = false;
  /** Bytes of a name or value that are still to come. */
  #skip = 0;
  #isBroken = false;

  /** Undefined: these are not the bytes of a head. */
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
    // Then its value follows; else its name, of which nothing more is said here.
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

  /** The integer is known. */
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
