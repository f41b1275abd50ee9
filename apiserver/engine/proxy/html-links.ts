import { Tokenizer } from 'htmlparser2';
import { ownKeyMap } from '../../../shared/own-key-map';

/** The attributes with links that v1.21 rewrites, by element. */
const LINKS = ownKeyMap<readonly string[]>({
  a: ['href'],
  applet: ['codebase'],
  area: ['href'],
  audio: ['src'],
  base: ['href'],
  blockquote: ['cite'],
  body: ['background'],
  button: ['formaction'],
  command: ['icon'],
  del: ['cite'],
  embed: ['src'],
  form: ['action'],
  frame: ['longdesc', 'src'],
  head: ['profile'],
  html: ['manifest'],
  iframe: ['longdesc', 'src'],
  img: ['longdesc', 'src', 'usemap'],
  input: ['src', 'usemap', 'formaction'],
  ins: ['cite'],
  link: ['href'],
  object: ['classid', 'codebase', 'data', 'usemap'],
  q: ['cite'],
  script: ['src'],
  source: ['src'],
  video: ['poster', 'src'],
});

/** A longer tag is passed on unchanged, so that a page is never buffered as a whole. */
const BUFFERED_CHARS_MAX = 1024 * 1024;

/**
 * Rewrites the links of a page while it is streamed. Everything else stays byte for byte the same: the page is read as latin1, in which tags
 * look the same as in every encoding of the web.
 */
export async function* rewriteLinks(
  page: AsyncIterable<Buffer>,
  rewrite: (link: string) => string,
): AsyncGenerator<Buffer> {
  const links = new Links(rewrite);
  for await (const piece of page) {
    const done = links.write(piece.toString('latin1'));
    if (done !== '') yield Buffer.from(done, 'latin1');
  }
  yield Buffer.from(links.end(), 'latin1');
}

class Links {
  readonly #rewrite: (link: string) => string;
  readonly #tokenizer: Tokenizer;
  /** The buffered text, and its offset in the page. */
  #held = '';
  #heldAt = 0;
  /** The last piece, and its offset. */
  #piece = '';
  #pieceAt = 0;
  #done = '';
  #element = '';
  #attribute = '';
  #value = '';
  #valueAt = -1;
  /** Unknown (-1) after an entity. */
  #valueEnd = -1;
  /** The offset up to which nothing more will be rewritten. */
  #settledAt = 0;

  constructor(rewrite: (link: string) => string) {
    this.#rewrite = rewrite;
    const settle = (_start: number, end: number): void => {
      this.#settledAt = end;
    };
    const closed = (end: number): void => {
      this.#settledAt = end + 1;
    };
    this.#tokenizer = new Tokenizer(
      { xmlMode: false, decodeEntities: true },
      {
        onopentagname: (start, end) => {
          this.#element = this.#text(start, end).toLowerCase();
        },
        onattribname: (start, end) => {
          this.#attribute = this.#text(start, end).toLowerCase();
          this.#value = '';
          this.#valueAt = -1;
          this.#valueEnd = -1;
        },
        onattribdata: (start, end) => {
          if (this.#valueAt < 0) this.#valueAt = start;
          if (this.#isValueTooLong()) return;
          this.#value += this.#newText(start, end);
          this.#valueEnd = end;
        },
        onattribentity: (codepoint) => {
          this.#valueEnd = -1;
          if (!this.#isValueTooLong()) this.#value += String.fromCodePoint(codepoint);
        },
        onattribend: () => this.#attributeEnds(),
        onopentagend: closed,
        onselfclosingtag: closed,
        ontext: settle,
        ontextentity: (_codepoint, end) => settle(0, end),
        onclosetag: settle,
        oncomment: settle,
        oncdata: settle,
        ondeclaration: settle,
        onprocessinginstruction: settle,
        onend: () => undefined,
      },
    );
  }

  /** Adds text and returns what can be passed on. */
  write(text: string): string {
    this.#piece = text;
    this.#pieceAt = this.#heldAt + this.#held.length;
    this.#held += text;
    this.#tokenizer.write(text);
    const until = this.#heldAt + this.#held.length;
    if (until - this.#settledAt > BUFFERED_CHARS_MAX) this.#settledAt = until;
    this.#pass(this.#settledAt);
    return this.#given();
  }

  end(): string {
    this.#tokenizer.end();
    this.#pass(this.#heldAt + this.#held.length);
    return this.#given();
  }

  #attributeEnds(): void {
    // The extent of a value that begins or ends with an entity is unknown; links do not.
    if (this.#valueAt < this.#heldAt || this.#valueEnd < 0 || this.#isValueTooLong()) return;
    if (LINKS.get(this.#element)?.includes(this.#attribute) !== true) return;
    const rewritten = this.#rewrite(this.#value);
    if (rewritten === this.#value) return;
    this.#pass(this.#valueAt);
    this.#done += escaped(rewritten);
    this.#drop(this.#valueEnd);
  }

  /** Returns whether the value is too long to be rewritten; an endless one must not be buffered. */
  #isValueTooLong(): boolean {
    const isPassed = this.#valueAt >= 0 && this.#valueAt < this.#heldAt;
    return isPassed || this.#value.length > BUFFERED_CHARS_MAX;
  }

  /** Cuts from the last piece, because a slice of the whole buffer would copy it and keep it alive. */
  #newText(start: number, end: number): string {
    if (start < this.#pieceAt) return this.#text(start, end);
    return this.#piece.slice(start - this.#pieceAt, end - this.#pieceAt);
  }

  #text(start: number, end: number): string {
    return this.#held.slice(start - this.#heldAt, end - this.#heldAt);
  }

  #pass(until: number): void {
    if (until <= this.#heldAt) return;
    this.#done += this.#text(this.#heldAt, until);
    this.#drop(until);
  }

  #drop(until: number): void {
    this.#held = this.#held.slice(until - this.#heldAt);
    this.#heldAt = until;
  }

  #given(): string {
    const done = this.#done;
    this.#done = '';
    return done;
  }
}

function escaped(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('"', '&#34;')
    .replaceAll("'", '&#39;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll(/[\u0100-\u{10ffff}]/gu, (char) => `&#${String(char.codePointAt(0))};`);
}
