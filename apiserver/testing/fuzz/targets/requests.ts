import { MEDIA_TYPE } from '../../../../shared/names';
import { isJsonObject } from '../../../../shared/object/clone';
import { minimalObject } from '../../minimal-objects';
import type { InProcessApi, Reply } from '../../in-process-api';
import { startInProcessApi } from '../../in-process-api';
import { ALL_KINDS, collectionOf, STORED_ROWS } from '../../stored-rows';
import { mutateJson } from '../mutators/mutate-json';
import { holds } from '../refusable';
import type { OpenTarget, Target } from '../target';

/** Whole requests through the whole server, but for its sockets. The inputs are JSON: `method`, `url`, `headers`, and `body` or `text`. */
export const REQUEST_TARGETS: readonly Target[] = [
  {
    name: 'request',
    corpus: 'request',
    words: [
      'GET',
      'POST',
      'PUT',
      'PATCH',
      'DELETE',
      MEDIA_TYPE.json,
      MEDIA_TYPE.yaml,
      MEDIA_TYPE.mergePatch,
      MEDIA_TYPE.jsonPatch,
      MEDIA_TYPE.strategicMergePatch,
      MEDIA_TYPE.applyPatch,
      'application/json;as=Table;v=v1;g=meta.k8s.io',
      '/api/v1/namespaces/default/configmaps',
      '/api/v1/namespaces/default/configmaps/a?fieldManager=a&force=true',
      '?limit=1&continue=',
      '?labelSelector=a%20in%20(b)',
      '?fieldSelector=metadata.name%3Da',
      '?resourceVersion=1&resourceVersionMatch=Exact',
      '?dryRun=All&fieldValidation=Strict',
      '/status',
      '/scale',
      'constructor',
      '__proto__',
    ],
    mutators: [mutateJson],
    runs: 400,
    open: openRequests,
  },
  {
    name: 'every-kind',
    corpus: 'every-kind',
    made: () =>
      STORED_ROWS.map((row) =>
        Buffer.from(
          JSON.stringify({
            method: 'POST',
            url: `${collectionOf(row)}?dryRun=All&fieldValidation=Warn`,
            body: minimalObject(row, 'default'),
          }),
        ),
      ),
    words: [
      'name',
      'metadata',
      'spec',
      'labels',
      'selector',
      'matchExpressions',
      'constructor',
      '__proto__',
      'In',
      '0',
      '*',
      'a.b/c',
      '1Gi',
      '127.0.0.1',
      '::1/64',
    ],
    mutators: [mutateJson],
    runs: 600,
    open: openRequests,
  },
];

async function openRequests(): Promise<OpenTarget> {
  let api: InProcessApi | undefined;
  let left = 0;
  return {
    check: async (input) => {
      if (left === 0 || api === undefined) {
        await api?.close();
        api = await startInProcessApi(undefined, ALL_KINDS);
        left = REQUESTS_OF_ONE_SERVER;
      }
      left -= 1;
      await checkRequest(api, input);
    },
    close: async () => api?.close(),
  };
}

/** What one input stores may be what another one needs; what a thousand store is only slow. */
const REQUESTS_OF_ONE_SERVER = 1_000;
const METHODS: ReadonlySet<unknown> = new Set(['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'HEAD']);

async function checkRequest(api: InProcessApi, input: Buffer): Promise<void> {
  const given = requestIn(input);
  if (given === undefined) return;
  const { method, url, headers, options } = given;
  // A call may wait; a watch without an end would wait forever.
  const signal = AbortSignal.timeout(WATCH_MS_MAX);
  if (isWatch(url)) return;
  const reply = await api.call(method, url, { ...options, headers, signal });
  holds(
    reply.code < 500 || reply.code === GATEWAY_TIMEOUT || UPSTREAM_ERROR.test(reply.text),
    'no request is answered by an error of the server',
    reply.code,
    reply.text,
    given,
  );
  if (reply.code < 400 || reply.code >= 500 || PLAIN_NOT_FOUND.test(reply.text)) return;
  // A path outside of the interface is answered by those that there are.
  if (reply.code === 404 && Array.isArray(reply.json?.['paths'])) return;
  holds(isStatus(reply), 'a refusal is a Status with its code', reply.code, reply.text);
}

/** What v1.21 answers to these is no Status, or is 500: clients know it so. */
/** In the format that was asked for. */
function isStatus({ code, json, text }: Reply): boolean {
  if (json?.kind === 'Status') return json.code === code;
  return text.includes('kind: Status\n')
    ? text.includes(`\ncode: ${String(code)}\n`)
    : text.startsWith('k8s\0');
}

const PLAIN_NOT_FOUND = /^404 page not found/;
const UPSTREAM_ERROR = /^Internal Server Error: ".*without impersonating a user/s;
const GATEWAY_TIMEOUT = 504;
const WATCH_MS_MAX = 60_000;

function isWatch(url: string): boolean {
  return /[?&]watch|\/watch\//.test(decoded(url));
}

function decoded(url: string): string {
  try {
    return decodeURIComponent(url);
  } catch {
    return url;
  }
}

interface GivenRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly options: { readonly body?: unknown; readonly text?: string };
}

/** Undefined for an input that is no request at all. */
function requestIn(input: Buffer): GivenRequest | undefined {
  let value: unknown;
  try {
    value = JSON.parse(input.toString('utf8'));
  } catch {
    return undefined;
  }
  if (!isJsonObject(value)) return undefined;
  const { method, url, headers, body, text } = value;
  if (!METHODS.has(method) || typeof url !== 'string' || !url.startsWith('/')) return undefined;
  const given = Object.entries(isJsonObject(headers) ? headers : {}).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string',
  );
  return {
    method: String(method),
    url,
    headers: Object.fromEntries(given.map(([name, each]) => [name.toLowerCase(), each])),
    options: typeof text === 'string' ? { text } : { body },
  };
}
