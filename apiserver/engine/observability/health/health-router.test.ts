import type { Log } from '../../../../shared/log/log';
import { silentLog } from '../../../../shared/log/log';
import { newExchange } from '../../request/testing/new-exchange';
import { getPage } from '../../server/testing/get-page';
import type { HealthCheck } from './health-check';
import { logCheck, ping, shutdownCheck } from './health-check';
import { createHealthRouter } from './health-router';

const store = (problem: string | undefined): HealthCheck => ({
  name: 'store',
  paths: ['healthz', 'readyz'],
  check: async () => Promise.resolve(problem),
});
const hook: HealthCheck = {
  name: 'poststarthook/fill-caches',
  paths: ['healthz', 'livez', 'readyz'],
  isStartup: true,
  check: async () => Promise.reject(new Error('not finished')),
};

async function ask(checks: readonly HealthCheck[], url: string, graceLeftMs = 0) {
  const [path = '', query] = url.split('?');
  const health = createHealthRouter({
    checks,
    log: silentLog,
    livezGrace: { clock: { now: () => 1_000 }, startedAt: 1_000, graceMs: graceLeftMs },
  });
  const answer = await getPage(health, newExchange({ path, query: new URLSearchParams(query) }));
  return answer === undefined
    ? undefined
    : {
        code: answer.code,
        text: Buffer.isBuffer(answer.body) ? answer.body.toString() : '',
        headers: answer.headers,
      };
}

test.each(['/healthz', '/livez', '/readyz'])('%s is 200 ok in plain text when all is well', async (path) => {
  expect(await ask([ping, store(undefined)], path)).toEqual({
    code: 200,
    text: 'ok',
    headers: { 'Content-Type': 'text/plain; charset=utf-8', 'X-Content-Type-Options': 'nosniff' },
  });
});

test('verbose shows every check in order', async () => {
  expect(await ask([ping, store(undefined), shutdownCheck(() => false)], '/readyz?verbose')).toMatchObject({
    code: 200,
    text: '[+]ping ok\n[+]store ok\n[+]shutdown ok\nhealthz check passed\n',
  });
});

test('one failing check answers 500 and shows its name, but not the reason', async () => {
  expect(await ask([ping, store('connection refused by 10.0.0.1')], '/readyz')).toMatchObject({
    code: 500,
    text: '[+]ping ok\n[-]store failed: reason withheld\nhealthz check failed\n',
  });
});

test('a path runs only its own checks', async () => {
  expect(await ask([ping, store('down')], '/livez')).toMatchObject({ code: 200 });
});

test('an excluded check is ignored, and the exclusion of an unknown check gets a warning', async () => {
  expect(await ask([ping, store('down')], '/readyz?verbose&exclude=store&exclude=stor')).toMatchObject({
    code: 200,
    text:
      '[+]ping ok\n[+]store excluded: ok\n' +
      'warn: some health checks cannot be excluded: no matches for "stor"\nhealthz check passed\n',
  });
});

test('a single check answers by itself', async () => {
  const checks = [ping, store('down'), hook];
  expect(await ask(checks, '/readyz/ping')).toMatchObject({ code: 200, text: 'ok' });
  expect(await ask(checks, '/readyz/store')).toMatchObject({
    code: 500,
    text: 'internal server error: down\n',
  });
  expect(await ask(checks, '/livez/poststarthook/fill-caches')).toMatchObject({
    code: 500,
    text: 'internal server error: not finished\n',
  });
});

test.each(['/readyz/nope', '/readyz/', '/livez/store', '/healthzz', '/version'])(
  '%s is no health path',
  async (path) => {
    expect(await ask([ping, store(undefined)], path)).toBeUndefined();
  },
);

test('during the grace period an unfinished start is live, but neither healthy nor ready', async () => {
  expect(await ask([ping, hook], '/livez', 1)).toMatchObject({ code: 200 });
  expect(await ask([ping, hook], '/readyz', 1)).toMatchObject({ code: 500 });
  expect(await ask([ping, hook], '/livez', 0)).toMatchObject({ code: 500 });
});

test('a shutdown fails readiness alone, and a log that cannot write fails everywhere', async () => {
  expect(await ask([shutdownCheck(() => true)], '/readyz')).toMatchObject({ code: 500 });
  expect(await ask([shutdownCheck(() => true)], '/livez')).toMatchObject({ code: 200 });
  expect(await ask([logCheck(() => new Error('ENOSPC'))], '/livez')).toMatchObject({ code: 500 });
});

test('a failure is logged when it begins and when it ends, and not at every probe', async () => {
  const lines: string[] = [];
  const to = (level: string) => (fields: object, message: string) => {
    lines.push(`${level}: ${message} ${JSON.stringify(fields)}`);
  };
  const log: Log = { ...silentLog, info: to('info'), warn: to('warn') };
  let problem: string | undefined = 'down';
  const changing: HealthCheck = { ...store(undefined), check: async () => Promise.resolve(problem) };
  const health = createHealthRouter({ checks: [ping, changing, hook], log });
  const probe = async (path: string): Promise<unknown> => getPage(health, newExchange({ path }));
  for (const path of ['/healthz', '/readyz', '/readyz', '/healthz']) await probe(path);
  problem = undefined;
  for (const path of ['/readyz', '/readyz']) await probe(path);
  const unfinished = (path: string): string =>
    `info: health checks are not passing yet {"path":"${path}","checks":["poststarthook/fill-caches"]}`;
  expect(lines).toEqual([
    'warn: health check failed {"check":"/healthz/store","reason":"down"}',
    unfinished('/healthz'),
    'warn: health check failed {"check":"/readyz/store","reason":"down"}',
    unfinished('/readyz'),
    'info: health check passes {"check":"/readyz/store"}',
  ]);
});

test('a check that is still running when the client disconnects counts as failed', async () => {
  const reasons: unknown[] = [];
  const log: Log = { ...silentLog, warn: (fields) => void reasons.push(fields) };
  const stuck: HealthCheck = { ...store(undefined), check: async () => new Promise(() => undefined) };
  const client = new AbortController();
  const exchange = newExchange({ path: '/readyz', signal: client.signal });
  const answer = getPage(createHealthRouter({ checks: [stuck], log }), exchange);
  client.abort(new Error('the connection was closed'));
  await answer;
  expect(reasons).toEqual([
    { check: '/readyz/store', reason: 'it had not answered when the client disconnected' },
  ]);
});

test('the paths of all checks are listed', () => {
  expect(createHealthRouter({ checks: [ping, store(undefined)], log: silentLog }).paths).toEqual([
    '/healthz',
    '/healthz/ping',
    '/healthz/store',
    '/livez',
    '/livez/ping',
    '/readyz',
    '/readyz/ping',
    '/readyz/store',
  ]);
});
