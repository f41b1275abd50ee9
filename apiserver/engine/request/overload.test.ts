import { NO_USER, NO_INFO } from './initial-values';
import type { Exchange } from './exchange';
import { createOverloadStage } from './overload';
import { parseRequestInfo } from './request-info';
import { newExchange } from './testing/new-exchange';

const PODS = '/api/v1/namespaces/a/pods';
const LARGE = { 'content-length': '4097' };

interface Asked {
  readonly method?: string;
  readonly url: string;
  readonly headers?: Exchange['headers'];
  readonly groups?: readonly string[];
}

/** The code of the refusal, or `passed`. */
async function ask(
  { method = 'GET', url, headers = {}, groups = [] }: Asked,
  isLate = true,
): Promise<unknown> {
  const dropped = { mutating: 0, readOnly: 0 };
  const { pathname: path, searchParams: query } = new URL(url, 'https://localhost');
  const info = path.startsWith('/api') ? parseRequestInfo(method, path, query) : NO_INFO;
  const exchange = newExchange({ method, path, query, headers, info, user: { ...NO_USER, groups } });
  try {
    await createOverloadStage({ lag: { isLate, expectedWaitMs: 6_000 }, dropped, random: () => 0.5 })(
      exchange,
      async () => Promise.resolve(),
    );
  } catch (error) {
    return [error, dropped];
  }
  expect(dropped).toEqual({ mutating: 0, readOnly: 0 });
  return 'passed';
}

const EXPENSIVE: readonly (readonly [what: string, kind: 'mutating' | 'readOnly', asked: Asked])[] = [
  ['a write with a large body', 'mutating', { method: 'POST', url: PODS, headers: LARGE }],
  ['a patch with a large body', 'mutating', { method: 'PATCH', url: `${PODS}/p`, headers: LARGE }],
  [
    'a body in chunks',
    'mutating',
    { method: 'PUT', url: `${PODS}/p`, headers: { 'transfer-encoding': 'chunked' } },
  ],
  [
    'a body in YAML',
    'mutating',
    { method: 'POST', url: PODS, headers: { 'content-type': 'application/yaml' } },
  ],
  ['a deletion with a large body', 'mutating', { method: 'DELETE', url: `${PODS}/p`, headers: LARGE }],
  ['the deletion of a collection', 'mutating', { method: 'DELETE', url: PODS }],
  ['a whole list', 'readOnly', { url: PODS }],
  ['a list of large pages', 'readOnly', { url: `${PODS}?limit=501` }],
  ['an object as YAML', 'readOnly', { url: `${PODS}/p`, headers: { accept: 'application/yaml' } }],
  ['the same in capitals', 'readOnly', { url: `${PODS}/p`, headers: { accept: 'Application/YAML' } }],
  [
    'a page as YAML',
    'readOnly',
    { url: `${PODS}?limit=1`, headers: { accept: 'application/json;as=Table, application/yaml' } },
  ],
];

test.each(EXPENSIVE)(
  '%s is shed during event-loop delay, counted, and gets Retry-After',
  async (_what, kind, asked) => {
    expect(await ask(asked)).toEqual([
      expect.objectContaining({
        status: expect.objectContaining({ code: 429, details: { retryAfterSeconds: 9 } }) as unknown,
      }),
      { mutating: 0, readOnly: 0, [kind]: 1 },
    ]);
  },
);

test.each(EXPENSIVE)(
  '%s is admitted without event-loop delay, and always for superusers',
  async (_what, _kind, asked) => {
    expect(await ask(asked, false)).toBe('passed');
    expect(await ask({ ...asked, groups: ['system:masters'] })).toBe('passed');
  },
);

test('a list without a limit is admitted during event-loop delay if it is short', async () => {
  const dropped = { mutating: 0, readOnly: 0 };
  const info = parseRequestInfo('GET', PODS, new URLSearchParams());
  const lists = (headers: Exchange['headers']) => newExchange({ info, headers, user: NO_USER });
  const stage = createOverloadStage({
    lag: { isLate: true, expectedWaitMs: 0 },
    dropped,
    random: () => 0,
    isLong: () => false,
  });
  await stage(lists({}), async () => Promise.resolve());
  expect(dropped).toEqual({ mutating: 0, readOnly: 0 });
  const yaml = stage(lists({ accept: 'application/yaml' }), async () => Promise.resolve());
  await expect(yaml).rejects.toMatchObject({ status: { code: 429 } });
});

test.each<readonly [what: string, asked: Asked]>([
  ['a health check', { url: '/livez' }],
  ['discovery', { url: '/apis' }],
  ['an object', { url: `${PODS}/p` }],
  ['a page', { url: `${PODS}?limit=500` }],
  ['a list of one object', { url: `${PODS}?fieldSelector=metadata.name%3Dp` }],
  ['a watch', { url: `${PODS}?watch=1` }],
  ['a small write', { method: 'PUT', url: `${PODS}/p`, headers: { 'content-length': '4096' } }],
  ['a deletion', { method: 'DELETE', url: `${PODS}/p` }],
  [
    'a lease, whatever its size',
    { method: 'PUT', url: '/apis/coordination.orch/v1/namespaces/a/leases/l', headers: LARGE },
  ],
])('%s passes while the loop is late', async (_what, asked) => {
  expect(await ask(asked)).toBe('passed');
});
