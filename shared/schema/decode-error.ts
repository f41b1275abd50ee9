import { ownKeyMap } from '../own-key-map';

/** A key of user data in a path is cut to so many characters. */
const PATH_SEGMENT_CHARS_MAX = 100;

/** A value that does not fit its type. Always the sender's fault: the error handler answers it with 400. */
export class DecodeError extends Error {
  /** What is wrong, without the path. */
  readonly detail: string;
  /** Absent where the type is not what is wrong. */
  readonly misfit: Misfit | undefined;
  #path = '';

  constructor(detail: string, options: ErrorOptions & { readonly misfit?: Misfit } = {}) {
    super(detail, options);
    this.name = 'DecodeError';
    this.detail = detail;
    this.misfit = options.misfit;
  }

  /** Where, as the client would write it: `spec.containers[0].name`, `metadata.labels[app]`. Empty for the whole document. */
  get path(): string {
    return this.#path;
  }

  /** Makes the path start one level higher: at a field name, `[0]` or `[key]`. The decoder calls it on the way up. */
  locate(segment: string): this {
    this.#path = joinPath(segment, this.#path);
    this.message = `${this.#path}: ${this.detail}`;
    return this;
  }
}

/** What a value should have been, and what it was. */
export interface Misfit {
  readonly wanted: string;
  readonly given: unknown;
}

/** Joins a segment and the path below it: field names with dots, indices and keys without. */
export function joinPath(segment: string, rest: string): string {
  const short =
    segment.length > PATH_SEGMENT_CHARS_MAX ? `${segment.slice(0, PATH_SEGMENT_CHARS_MAX)}…` : segment;
  return rest === '' || rest.startsWith('[') ? short + rest : `${short}.${rest}`;
}

/** How messages name the type of a JSON value. */
function typeNameOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  return TYPE_NAMES.get(typeof value) ?? typeof value;
}

const TYPE_NAMES = ownKeyMap<string>({
  object: 'an object',
  string: 'a string',
  boolean: 'a boolean',
  number: 'a number',
  bigint: 'a number',
});

/** `wanted` is what else tells the type from others that are told alike. */
export function expected(what: string, value: unknown, wanted = what): DecodeError {
  const misfit = { wanted, given: value };
  return new DecodeError(`expected ${what}, got ${typeNameOf(value)}`, { misfit });
}
