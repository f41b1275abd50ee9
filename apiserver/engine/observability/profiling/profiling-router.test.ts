import { Session } from 'node:inspector';
import { LightSignal } from '../../../../shared/concurrency/light-signal';
import type { Answer } from '../../request/exchange';
import { newExchange } from '../../request/testing/new-exchange';
import type { PageRoutes } from '../../server/page-router';
import { getPage } from '../../server/testing/get-page';
import { createProfilingRouter } from './profiling-router';

async function ask(routes: PageRoutes, url: string, signal = new LightSignal()) {
  const [path = '', query] = url.split('?');
  return getPage(routes, newExchange({ path, query: new URLSearchParams(query), signal }));
}

function textOf(answer: Answer | undefined): string {
  return Buffer.isBuffer(answer?.body) ? answer.body.toString() : '';
}

test('the index names both profiles, and is found without its slash', async () => {
  const routes = createProfilingRouter();
  const index = await ask(routes, '/debug/pprof/');
  expect(index).toMatchObject({ code: 200, headers: { 'Content-Type': 'text/html; charset=utf-8' } });
  expect(textOf(index)).toContain('<a href="profile?seconds=30">');
  expect(textOf(index)).toContain('<a href="heap?seconds=30">');
  const redirect = await ask(routes, '/debug/pprof');
  expect(redirect).toMatchObject({
    code: 302,
    headers: { Location: '/debug/pprof/', 'Content-Type': 'text/html; charset=utf-8' },
    body: Buffer.from('<a href="/debug/pprof/">Found</a>.\n\n'),
  });
});

test.each([
  ['profile', 'nodes'],
  ['heap', 'head'],
])('%s is in the format of V8', async (kind, field) => {
  const answer = await ask(createProfilingRouter(), `/debug/pprof/${kind}?seconds=0.05`);
  expect(answer).toMatchObject({ code: 200, headers: { 'Content-Type': 'application/json' } });
  expect(JSON.parse(textOf(answer))).toHaveProperty(field);
});

test('one profile is recorded at a time, and the next one after the client of the first has disconnected', async () => {
  const routes = createProfilingRouter();
  const client = new LightSignal();
  const first = ask(routes, '/debug/pprof/profile?seconds=60', client);
  await expect(ask(routes, '/debug/pprof/heap?seconds=1')).rejects.toMatchObject({
    status: { code: 429, message: 'another profile is being recorded', details: { retryAfterSeconds: 5 } },
  });
  const reason = new Error('gone');
  client.abort(reason);
  await expect(first).rejects.toBe(reason);
  expect(await ask(routes, '/debug/pprof/heap?seconds=0.01')).toMatchObject({ code: 200 });
});

test('a recording that fails to start does not block the next one', async () => {
  const routes = createProfilingRouter();
  jest.spyOn(Session.prototype, 'connect').mockImplementationOnce(() => {
    throw new Error('no inspector');
  });
  await expect(ask(routes, '/debug/pprof/heap?seconds=0.01')).rejects.toThrow('no inspector');
  jest.restoreAllMocks();
  expect(await ask(routes, '/debug/pprof/heap?seconds=0.01')).toMatchObject({ code: 200 });
});

test.each(['0', '-1', '61', 'x', 'Infinity'])('%s seconds are refused', async (seconds) => {
  await expect(ask(createProfilingRouter(), `/debug/pprof/profile?seconds=${seconds}`)).rejects.toMatchObject(
    {
      status: { code: 400 },
    },
  );
});

test('the other profiles of Go are 404, and other paths have no route', async () => {
  const routes = createProfilingRouter();
  expect(await ask(routes, '/debug/pprof/goroutine')).toMatchObject({ code: 404 });
  expect(await ask(routes, '/debug/watchers')).toBeUndefined();
  await expect(
    getPage(routes, newExchange({ method: 'POST', path: '/debug/pprof/heap' })),
  ).rejects.toMatchObject({
    status: { code: 405 },
  });
});
