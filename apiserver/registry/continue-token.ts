import { badRequest } from '../../shared/errors/status-error';
import { GROUP } from '../../shared/names';

/**
 * Where a paged list goes on. A token holds a version and a key relative to the request's own prefix, nothing else: resource and
 * namespace come from the path, so that a token cannot reach another place, and any replica accepts it without a shared secret.
 */
export interface ContinueToken {
  /** The version of all pages; undefined goes on in the newest state (the way out of an expired token). */
  readonly revision: number | undefined;
  /** The last key of the page before. */
  readonly after: string;
}

/** The form that kube-apiserver gives its tokens; the key in it is the first that may come. */
const FORMAT = `${GROUP.meta}/v1`;
/** The first key behind another is that one and this. */
const BEHIND = '\0';
const LATEST = -1;
const TOKEN_CHARACTERS_MAX = 4096;

export function encodeContinueToken({ revision, after }: ContinueToken): string {
  const token = { v: FORMAT, rv: revision ?? LATEST, start: `${after}${BEHIND}` };
  return Buffer.from(JSON.stringify(token)).toString('base64url');
}

/** Throws BadRequest for anything that {@link encodeContinueToken} did not make, and for keys that leave the request's prefix. */
export function decodeContinueToken(text: string): ContinueToken {
  const token = parse(text);
  if (token === undefined)
    throw badRequest('invalid continue token: continue key is not valid: it was not made by this server');
  const { v, rv, start } = token;
  if (v !== FORMAT)
    throw badRequest(
      `invalid continue token: continue key is not valid: server does not recognize this encoded version ${JSON.stringify(v ?? '')}`,
    );
  if (typeof rv !== 'number' || !Number.isSafeInteger(rv) || rv === 0 || rv < LATEST) {
    throw badRequest(
      'invalid continue token: continue key is not valid: incorrect encoded start resourceVersion',
    );
  }
  if (typeof start !== 'string' || start === '') {
    throw badRequest('invalid continue token: continue key is not valid: encoded start key empty');
  }
  const after = start.endsWith(BEHIND) ? start.slice(0, -1) : start;
  if (after.split('/').some((part) => NO_SEGMENT.has(part))) {
    throw badRequest(`invalid continue token: continue key is not valid: ${start}`);
  }
  return { revision: rv === LATEST ? undefined : rv, after };
}

/** Parts of a path that leave the place, or do not stay as they are when it is made absolute. */
const NO_SEGMENT: ReadonlySet<string> = new Set(['', '.', '..']);

function parse(text: string): { v?: unknown; rv?: unknown; start?: unknown } | undefined {
  if (text.length > TOKEN_CHARACTERS_MAX) return undefined;
  try {
    const value: unknown = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'));
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}
