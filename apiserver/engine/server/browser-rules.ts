import type { Pattern } from '../../../shared/structural/patterns';
import type { Answer, Exchange, Stage } from '../request/exchange';

/** The headers for browsers: HSTS and CORS. */
export interface BrowserRules {
  /** The value of `Strict-Transport-Security`; empty: it is not sent. */
  readonly strictTransport: string;
  /** CORS: pages of an origin that matches one of these may send requests and read the answers. */
  readonly origins: readonly Pick<Pattern, 'test'>[];
}

/** Longer origins are never valid; patterns are not tried on them. */
const ORIGIN_CHARS_MAX = 1_024;

/** The CORS headers of kube-apiserver, the same for every request. */
const CORS_HEADERS: readonly string[] = Object.entries({
  'Access-Control-Allow-Methods': 'POST, GET, OPTIONS, PUT, DELETE, PATCH',
  'Access-Control-Allow-Headers':
    'Content-Type, Content-Length, Accept-Encoding, X-CSRF-Token, Authorization, X-Requested-With, If-Modified-Since',
  'Access-Control-Expose-Headers': 'Date',
  'Access-Control-Allow-Credentials': 'true',
}).flat();

/** Returns the headers for browsers that the answer does not set itself, as a flat list of names and values. */
export function browserHeaders(rules: BrowserRules, exchange: Exchange, answer: Answer): readonly string[] {
  const { strictTransport } = rules;
  const hasOwn = (name: string): boolean =>
    Object.keys(answer.headers).some((each) => each.toLowerCase() === name);
  const headers: string[] = [];
  if (strictTransport !== '' && !hasOwn('strict-transport-security')) {
    headers.push('Strict-Transport-Security', strictTransport);
  }
  const origin = allowedOrigin(rules, exchange);
  if (origin !== undefined && !hasOwn('access-control-allow-origin')) {
    headers.push('Access-Control-Allow-Origin', origin, ...CORS_HEADERS);
  }
  return headers;
}

/**
 * Creates the stage that answers CORS preflight requests. They carry no credentials, so the stage runs before
 * authentication.
 */
export function createPreflightStage(rules: BrowserRules): Stage {
  return async (exchange, next) => {
    if (exchange.method === 'OPTIONS' && allowedOrigin(rules, exchange) !== undefined) {
      exchange.answer = { code: 204, headers: {}, body: Buffer.alloc(0) };
      return;
    }
    await next();
  };
}

function allowedOrigin({ origins }: BrowserRules, { headers: { origin } }: Exchange): string | undefined {
  if (origins.length === 0 || origin === undefined || origin === '') return undefined;
  if (origin.length > ORIGIN_CHARS_MAX) return undefined;
  return origins.some((pattern) => pattern.test(origin)) ? origin : undefined;
}
