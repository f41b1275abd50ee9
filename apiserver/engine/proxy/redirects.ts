import { StatusError } from '../../../shared/errors/status-error';
import { hostPort } from '../../../shared/meta/ip-address';
import type { BackendAnswer, BackendCall } from './backend-call';

/** How redirects of upgrade requests are handled, by feature gates of v1.21. */
export interface RedirectRules {
  /** StreamingProxyRedirects. */
  readonly areFollowed: boolean;
  /** ValidateProxyRedirects: only redirects to the original host, with any port, are followed. */
  readonly isHostKept: boolean;
}

export const DEFAULT_REDIRECTS: RedirectRules = { areFollowed: true, isHostKept: true };

/** One more is an error. */
const REDIRECTS_MAX = 9;
const FOUND = 302;
const PORTS = { http: 80, https: 443 } as const;

/** Sends the call and follows redirects. Throws the errors of v1.21 for invalid ones. Source: ConnectWithRedirects. */
export async function followRedirects(
  first: BackendCall,
  { areFollowed, isHostKept }: RedirectRules,
  send: (call: BackendCall) => Promise<BackendAnswer>,
): Promise<BackendAnswer> {
  let call = first;
  for (let redirects = 0; ; redirects += 1) {
    if (redirects > REDIRECTS_MAX) throw new StatusError('', `too many redirects (${String(redirects)})`);
    const answer = await send(call);
    if (!areFollowed || answer.is !== 'answer' || answer.code !== FOUND) return answer;
    answer.end();
    const next = redirected(call, locationOf(answer.rawHeaders));
    if (isHostKept && next.host !== first.host) {
      throw new StatusError('', `hostname mismatch: expected ${first.host}, found ${next.host}`);
    }
    call = next;
  }
}

function redirected(call: BackendCall, location: string): BackendCall {
  if (location === '') throw new StatusError('', `${String(FOUND)} response missing Location header`);
  const { scheme, host, port } = call;
  const base = `${scheme}://${hostPort(host, port)}${call.target}`;
  const url = URL.canParse(location, base) ? new URL(location, base) : undefined;
  const next = url?.protocol.slice(0, -1);
  if (url === undefined || (next !== 'http' && next !== 'https')) {
    throw new StatusError('', `malformed Location header: ${JSON.stringify(location)}`);
  }
  return {
    ...call,
    scheme: next,
    // Only in a URL is an IPv6 address in brackets.
    host: url.hostname.replace(/^\[(.*)\]$/u, '$1'),
    port: url.port === '' ? PORTS[next] : Number(url.port),
    target: `${url.pathname}${url.search}`,
    headers: { ...call.headers, host: url.host },
    method: 'GET',
    body: undefined,
  };
}

function locationOf(rawHeaders: readonly string[]): string {
  const at = rawHeaders.findIndex((name, index) => index % 2 === 0 && name.toLowerCase() === 'location');
  return at < 0 ? '' : (rawHeaders[at + 1] ?? '');
}
