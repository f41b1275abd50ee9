import { NumberText } from '../object/exact-text';
import { getJsonTypeName } from '../object/json';

/** Longest part of a client's key or value in a message, in characters. */
const EXCERPT_CHARS_MAX = 100;

/** A value does not fit its type. The client sent it, so the error handler answers 400. */
export class DecodeError extends Error {
  /** The problem without the path; undefined where the type of the JSON value is the problem. */
  readonly detail: string | undefined;
  /** Undefined where there is a detail. */
  readonly #misfit: Misfit | undefined;
  #path = '';

  constructor(detail: string | undefined, options: ErrorOptions & { readonly misfit?: Misfit } = {}) {
    super(detail, options);
    this.name = 'DecodeError';
    this.detail = detail;
    this.#misfit = options.misfit;
    this.message = this.#describe();
  }

  /** The path as a client writes it, `spec.containers[0].name` or `metadata.labels[app]`. Empty for the whole document. */
  get path(): string {
    return this.#path;
  }

  /** Prepends a field name, `[0]` or `[key]` to the path. The decoder calls it while it unwinds. */
  locate(segment: string): this {
    this.#path = joinPath(segment, this.#path);
    this.message = this.#describe();
    return this;
  }

  #describe(): string {
    if (this.detail !== undefined) return this.#path === '' ? this.detail : `${this.#path}: ${this.detail}`;
    const place = this.#path === '' ? 'value' : `field ${this.#path}`;
    return `cannot unmarshal ${describeGiven(this.#misfit?.given)} into ${place} of type ${this.#misfit?.wanted ?? ''}`;
  }
}

/** The type that a field expects and the value that a client gave. */
interface Misfit {
  readonly wanted: string;
  readonly given: unknown;
}

/** Joins a segment and the path below it: field names with dots, indices and keys without. */
export function joinPath(segment: string, rest: string): string {
  const short = truncate(segment);
  return rest === '' || rest.startsWith('[') ? short + rest : `${short}.${rest}`;
}

/** Returns the error for a JSON value of the wrong type: `cannot unmarshal string into field spec.replicas of type int32`. */
export function unexpectedType(wanted: string, given: unknown): DecodeError {
  return new DecodeError(undefined, { misfit: { wanted, given } });
}

/** Cuts text of a client to the length that a message may repeat. */
export function truncate(text: string): string {
  return text.length > EXCERPT_CHARS_MAX ? `${text.slice(0, EXCERPT_CHARS_MAX)}…` : text;
}

/** The number itself is shown as Go does, since it may have the right type and be out of range. */
function describeGiven(given: unknown): string {
  if (given instanceof NumberText) return `number ${truncate(given.text)}`;
  const type = getJsonTypeName(given);
  return type === 'number' ? `number ${String(given)}` : type;
}
