import type { Pattern } from '../../../shared/structural/patterns';
import type { Answer, Exchange, Stage } from '../request/exchange';

/** What answers tell browsers. */
export interface BrowserRules {
  /** The value of `Strict-Transport-Security`; empty: it is not sent. */
  readonly strictTransport: string;
  /** Pages of an origin that one of these matches may send requests and read the answers. */
  readonly origins: readonly Pick<Pattern, 'test'>[];
}

/** No origin is as long; patterns are not tried on more. */
const ORIGIN_CHARS_MAX = 1_024;

/** As kube-apiserver says it, whatever the request is about. */
const CORS_HEADERS: readonly string[] = Object.entries({
  'Access-Control-Allow-Methods': 'POST, GET, OPTIONS, PUT, DELETE, PATCH',
  'Access-Control-Allow-Headers':
    'Content-Type, Content-Length, Accept-Encoding, X-CSRF-Token, Authorization, X-Requested-With, If-Modified-Since',
  'Access-Control-Expose-Headers': 'Date',
  'Access-Control-Allow-Credentials': 'true',
}).flat();

/** Names and values, one after the other, of what an answer to this request tells browsers besides what it says itself. */
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

/** Answers the question of a browser whether a page may send a request. It comes without credentials, so it is answered before they count. */
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
