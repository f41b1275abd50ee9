import type { Transform } from 'node:stream';
import { pipeline, Readable } from 'node:stream';
import { createGunzip, createGzip, createInflate, createDeflate } from 'node:zlib';
import type { Answer, Exchange } from '../request/exchange';
import type { BackendAnswer } from './backend-call';
import type { ForwardedHeaders } from './forwarded-headers';
import { answeredHeaders } from './forwarded-headers';
import { rewriteLinks } from './html-links';
import { encodedPath, rewrittenLink } from './proxied-path';

/** How links of an answer are rewritten. */
export interface Rewriting {
  /** The path of the request up to the path of the other server. */
  readonly prefix: string;
  /** Host and port of the other server. */
  readonly host: string;
}

type HttpAnswer = Extract<BackendAnswer, { is: 'answer' }>;

/** CORS headers of proxied servers are dropped: a page of a pod must not be read with the credentials of its viewer. */
const DROPPED_HEADERS: ReadonlySet<string> = new Set([
  'access-control-allow-credentials',
  'access-control-allow-headers',
  'access-control-allow-methods',
  'access-control-allow-origin',
]);

const NOTHING = Buffer.alloc(0);

/** Streams the answer of another server. With `rewriting`, redirects and links in HTML pages lead through the proxy again. */
export function proxiedAnswer(answer: HttpAnswer, rewriting: Rewriting | undefined): Answer {
  const { code, rawHeaders, body } = answer;
  const headers = new Headers(answeredHeaders(rawHeaders));
  if (rewriting === undefined) return { code, headers: headers.written(), body };
  for (const name of DROPPED_HEADERS) headers.delete(name);
  const rewrite = (link: string): string => rewrittenLink(link, rewriting.prefix, rewriting.host);
  const location = headers.get('location');
  if (location !== '') {
    headers.set('Location', rewrite(location));
    return { code, headers: headers.written(), body };
  }
  const [type = ''] = headers.get('content-type').split(';');
  const coding = CODINGS.get(headers.get('content-encoding'));
  if (type.trim() !== 'text/html' || coding === undefined) return { code, headers: headers.written(), body };
  headers.delete('content-length');
  return { code, headers: headers.written(), body: rewritten(body, coding, rewrite) };
}

/** Creates an answer that hands over the upgraded connection. */
export function tunnelAnswer({
  rawHeaders,
  socket,
  head,
}: Extract<BackendAnswer, { is: 'upgraded' }>): Answer {
  const headers = answeredHeaders(rawHeaders);
  const upgrade = rawHeaders.findIndex((name, at) => at % 2 === 0 && name.toLowerCase() === 'upgrade');
  return {
    code: 101,
    headers: { ...headers, Connection: 'Upgrade', Upgrade: rawHeaders[upgrade + 1] ?? '' },
    body: NOTHING,
    tunnel: { socket, head },
  };
}

/** Redirects an empty path to `/`, so that relative links resolve. v1.21 does so for every method. */
export function emptyPathAnswer({ path, search = '' }: Exchange, proxied: string): Answer | undefined {
  if (proxied !== '') return undefined;
  const query = search === '' ? '' : `?${search}`;
  const location = `${encodedPath(decodeURIComponent(path))}/${query}`;
  return { code: 301, headers: { Location: location }, body: NOTHING };
}

interface Coding {
  readonly decode: () => Transform | undefined;
  readonly encode: () => Transform | undefined;
}

const CODINGS: ReadonlyMap<string, Coding> = new Map<string, Coding>([
  ['', { decode: () => undefined, encode: () => undefined }],
  ['gzip', { decode: () => createGunzip(), encode: () => createGzip() }],
  ['deflate', { decode: () => createInflate(), encode: () => createDeflate() }],
]);

function rewritten(
  body: AsyncIterable<Buffer>,
  { decode, encode }: Coding,
  rewrite: (link: string) => string,
): AsyncIterable<Buffer> {
  return through(rewriteLinks(through(body, decode()), rewrite), encode());
}

/** Pipes the body through the transform; closing one end destroys the other. */
function through(body: AsyncIterable<Buffer>, transform: Transform | undefined): AsyncIterable<Buffer> {
  if (transform === undefined) return body;
  pipeline(Readable.from(body, { objectMode: false }), transform, () => {
    // The reader receives the error.
  });
  return transform;
}

/** Headers with case-insensitive lookup and their original spelling. */
class Headers {
  readonly #values = new Map<string, { readonly name: string; readonly value: string | readonly string[] }>();

  constructor(headers: Readonly<Record<string, string | readonly string[]>>) {
    for (const [name, value] of Object.entries(headers)) {
      this.#values.set(name.toLowerCase(), { name, value });
    }
    const caching = this.#values.get('cache-control');
    // Add the Cache-Control of this server's answers to that of the other server.
    if (caching !== undefined) {
      const value = ['no-cache, private', ...[caching.value].flat()];
      this.#values.set('cache-control', { name: 'Cache-Control', value });
    }
  }

  get(name: string): string {
    const value = this.#values.get(name)?.value ?? '';
    return typeof value === 'string' ? value : (value[0] ?? '');
  }

  set(name: string, value: string): void {
    this.#values.set(name.toLowerCase(), { name, value });
  }

  delete(name: string): void {
    this.#values.delete(name);
  }

  written(): ForwardedHeaders {
    return Object.fromEntries([...this.#values.values()].map(({ name, value }) => [name, value]));
  }
}
