import type { Transform } from 'node:stream';
import { pipeline, Readable } from 'node:stream';
import { createGunzip, createGzip, createInflate, createDeflate } from 'node:zlib';
import type { Answer, Exchange } from '../request/exchange';
import type { BackendAnswer } from './backend-call';
import type { ForwardedHeaders } from './forwarded-headers';
import { answeredHeaders } from './forwarded-headers';
import { withLinks } from './html-links';
import { encodedPath, rewrittenLink } from './proxied-path';

/** What links of an answer are rewritten with. */
export interface Rewriting {
  /** What stands before the path of the other server in that of the request. */
  readonly prefix: string;
  /** Of the other server, with its port. */
  readonly host: string;
}

type HttpAnswer = Extract<BackendAnswer, { is: 'answer' }>;

/** Whom this server trusts is not for others to say: a page of a pod must not be read with the credentials of its viewer. */
const NOT_FOR_PROXIES: ReadonlySet<string> = new Set([
  'access-control-allow-credentials',
  'access-control-allow-headers',
  'access-control-allow-methods',
  'access-control-allow-origin',
]);

const NOTHING = Buffer.alloc(0);

/** The answer of another server as it comes. With `rewriting`, its redirects and the links of its pages lead through the proxy again. */
export function proxiedAnswer(answer: HttpAnswer, rewriting: Rewriting | undefined): Answer {
  const { code, rawHeaders, body } = answer;
  const headers = new Headers(answeredHeaders(rawHeaders));
  if (rewriting === undefined) return { code, headers: headers.written(), body };
  for (const name of NOT_FOR_PROXIES) headers.delete(name);
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

/** Hands over the connection. */
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

/** A browser that asks for the folder without its slash would look for its links in the wrong one. v1.21 sends away whatever the method. */
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
  return through(withLinks(through(body, decode()), rewrite), encode());
}

/** Whoever leaves one end makes the other end go. */
function through(body: AsyncIterable<Buffer>, transform: Transform | undefined): AsyncIterable<Buffer> {
  if (transform === undefined) return body;
  pipeline(Readable.from(body, { objectMode: false }), transform, () => {
    // Whoever reads it is told of the error.
  });
  return transform;
}

/** Headers whose names keep their letters, found by any. */
class Headers {
  readonly #values = new Map<string, { readonly name: string; readonly value: string | readonly string[] }>();

  constructor(headers: Readonly<Record<string, string | readonly string[]>>) {
    for (const [name, value] of Object.entries(headers)) {
      this.#values.set(name.toLowerCase(), { name, value });
    }
    const caching = this.#values.get('cache-control');
    // As every answer of this server says it, beside what the other server says.
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
