import type { StatusError } from '../../../shared/errors/status-error';
import { badRequest } from '../../../shared/errors/status-error';
import { isJsonObject } from '../../../shared/object/clone';
import { jsonSyntaxProblem } from '../../../shared/schema/json-syntax';
import { getJsonTypeName } from '../../../shared/object/json';
import { GROUP } from '../../../shared/names';

/**
 * The position of a paged list. A token holds a version and a key relative to the prefix of the request.
 * Resource and namespace come from the path, so a token cannot reach another place, and any replica accepts
 * it without a shared secret.
 */
export interface ContinueToken {
  /**
   * The version of all pages; undefined continues in the newest state (the recovery from an expired token).
   */
  readonly revision: number | undefined;
  /** The last key of the previous page. */
  readonly after: string;
}

/** The token format of kube-apiserver. Its key is the first one that may follow. */
const FORMAT = `${GROUP.meta}/v1`;
/** The first key after another is that key and this suffix. */
const BEHIND = '\0';
/** Any version below 0 means the newest state. */
const LATEST = -1;
const TOKEN_CHARACTERS_MAX = 4096;

export function encodeContinueToken({ revision, after }: ContinueToken): string {
  const token = { v: FORMAT, rv: revision ?? LATEST, start: `${after}${BEHIND}` };
  return Buffer.from(JSON.stringify(token)).toString('base64url');
}

/** Throws BadRequest for anything that {@link encodeContinueToken} did not make, and for keys that leave the request's prefix. */
export function decodeContinueToken(text: string): ContinueToken {
  const token = parse(text);
  if (typeof token === 'string') throw invalid(token);
  const misfit = misfitOf(token);
  if (misfit !== undefined) throw invalid(misfit);
  const { v, rv, start } = token;
  if (v !== FORMAT)
    throw invalid(`server does not recognize this encoded version ${JSON.stringify(v ?? '')}`);
  if (typeof rv !== 'number' || !Number.isSafeInteger(rv) || rv === 0)
    throw invalid(`incorrect encoded start resourceVersion (version ${FORMAT})`);
  if (typeof start !== 'string' || start === '') throw invalid(`encoded start key empty (version ${FORMAT})`);
  // Upstream makes it absolute; a client may have done so.
  const key = start.startsWith('/') ? start.slice(1) : start;
  const after = key.endsWith(BEHIND) ? key.slice(0, -1) : key;
  if (after.split('/').some((part) => NO_SEGMENT.has(part))) throw invalid(start);
  return { revision: rv < 0 ? undefined : rv, after };
}

function invalid(why: string): StatusError {
  return badRequest(`invalid continue token: continue key is not valid: ${why}`);
}

/** Path segments that leave the place, or that normalization changes. */
const NO_SEGMENT: ReadonlySet<string> = new Set(['', '.', '..']);

/** Decodes the token, or says what is wrong with it, with the message texts of Go. */
function parse(text: string): { v?: unknown; rv?: unknown; start?: unknown } | string {
  if (text.length > TOKEN_CHARACTERS_MAX) return 'it was not made by this server';
  const illegal = illegalByte(text);
  if (illegal !== undefined) return `illegal base64 data at input byte ${String(illegal)}`;
  const bytes = Buffer.from(text, 'base64url');
  try {
    const value: unknown = JSON.parse(bytes.toString('utf8')) ?? {};
    if (isJsonObject(value)) return value;
    return `json: cannot unmarshal ${getJsonTypeName(value)} into Go value of type etcd3.continueToken`;
  } catch {
    return jsonSyntaxProblem(bytes) ?? 'it was not made by this server';
  }
}

const FIELD_TYPES: ReadonlyMap<string, 'string' | 'int64'> = new Map([
  ['v', 'string'],
  ['rv', 'int64'],
  ['start', 'string'],
]);

/** The type error of a token, with the message text of the Go decoder. */
function misfitOf(token: object): string | undefined {
  for (const [field, value] of Object.entries(token) as [string, unknown][]) {
    const type = FIELD_TYPES.get(field);
    if (type === undefined || value === null) continue;
    const fits = type === 'string' ? typeof value === 'string' : Number.isInteger(value);
    const what =
      typeof value === 'number' && type === 'int64' ? `number ${String(value)}` : getJsonTypeName(value);
    if (!fits)
      return `json: cannot unmarshal ${what} into Go struct field continueToken.${field} of type ${type}`;
  }
  return undefined;
}

/** The position at which unpadded base64url becomes invalid; undefined if it is valid. */
function illegalByte(text: string): number | undefined {
  const found = /[^A-Za-z0-9_-]/.exec(text);
  if (found !== null) return found.index;
  return text.length % 4 === 1 ? text.length - 1 : undefined;
}
