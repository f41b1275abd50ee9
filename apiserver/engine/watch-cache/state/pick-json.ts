/** The wanted members of a JSON object: whole members (`true`), or nested members. */
export type WantedMembers = ReadonlyMap<string, WantedMembers | true>;

/** The members at these paths (`metadata.labels`), as a tree. A path below another path is redundant. */
export function wantedMembers(paths: readonly string[]): WantedMembers {
  const root = new Map<string, WantedMembers | true>();
  for (const path of paths) add(root, path.split('.'));
  return root;
}

function add(tree: Map<string, WantedMembers | true>, [first = '', ...rest]: readonly string[]): void {
  const known = tree.get(first);
  if (known === true) return;
  if (rest.length === 0) {
    tree.set(first, true);
    return;
  }
  const below = new Map(known);
  add(below, rest);
  tree.set(first, below);
}

/**
 * Parses only the wanted members of an object in compact JSON, as the codec writes it. Skipping takes about a nanosecond per byte. Throws for
 * truncated bytes, or bytes that are not an object; skipped members are not validated.
 */
export function pickJson(bytes: Buffer, wanted: WantedMembers): Readonly<Record<string, unknown>> {
  const picked: Record<string, unknown> = {};
  pickMembers(bytes, { at: 0, wanted, into: picked });
  return picked;
}

interface Place {
  /** Index of the opening brace. */
  readonly at: number;
  readonly wanted: WantedMembers;
  readonly into: Record<string, unknown>;
}

/** Returns the index after the object. */
function pickMembers(bytes: Buffer, { at, wanted, into }: Place): number {
  if (bytes[at] !== OPEN_BRACE) throw new Error('the stored value is no object');
  let next = at + 1;
  if (bytes[next] === CLOSE_BRACE) return next + 1;
  for (;;) {
    const nameEnd = endOfString(bytes, next);
    const name = textOf(bytes, next, nameEnd);
    const selection = wanted.get(name);
    const start = nameEnd + 1;
    const end = endOfValue(bytes, start);
    if (selection !== undefined) pickMember(bytes, { start, end, name, selection, into });
    if (bytes[end] !== COMMA) return end + 1;
    next = end + 1;
  }
}

/** Decodes the string between the quotes at `start` and `end - 1`. */
function textOf(bytes: Buffer, start: number, end: number): string {
  const text = bytes.toString('utf8', start + 1, end - 1);
  return text.includes('\\') ? (JSON.parse(`"${text}"`) as string) : text;
}

interface Member {
  readonly start: number;
  readonly end: number;
  readonly name: string;
  readonly selection: WantedMembers | true;
  readonly into: Record<string, unknown>;
}

function pickMember(bytes: Buffer, { start, end, name, selection, into }: Member): void {
  if (selection === true) into[name] = JSON.parse(bytes.toString('utf8', start, end));
  else if (bytes[start] === OPEN_BRACE) {
    const below: Record<string, unknown> = {};
    into[name] = below;
    pickMembers(bytes, { at: start, wanted: selection, into: below });
  }
}

/** The index after the value of compact JSON at `start`. Throws for a truncated value. */
export function endOfValue(bytes: Buffer, start: number): number {
  const first = bytes[start];
  if (first === QUOTE) return endOfString(bytes, start);
  if (first === OPEN_BRACE || first === OPEN_BRACKET) return endOfNested(bytes, start);
  let end = start;
  while (end < bytes.length && bytes[end] !== COMMA && !isClosing(bytes[end])) end += 1;
  return end;
}

function endOfNested(bytes: Buffer, start: number): number {
  let depth = 0;
  for (let at = start; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === QUOTE) at = endOfString(bytes, at) - 1;
    else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) depth += 1;
    else if (isClosing(byte)) {
      depth -= 1;
      if (depth === 0) return at + 1;
    }
  }
  throw new Error('the stored value ends too early');
}

/** Returns the index after the string. */
function endOfString(bytes: Buffer, start: number): number {
  if (bytes[start] !== QUOTE) throw new Error('the stored value is no compact JSON');
  for (let at = start + 1; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === QUOTE) return at + 1;
    if (byte === BACKSLASH) at += 1;
  }
  throw new Error('the stored value ends too early');
}

function isClosing(byte: number | undefined): boolean {
  return byte === CLOSE_BRACE || byte === CLOSE_BRACKET;
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const OPEN_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
