import { compilePattern } from '../../../shared/structural/patterns';
import type { BrowserRules } from './browser-rules';
import { createPreflightStage } from './browser-rules';
import type { Pipeline } from './request-handler';
import type { TestServer } from './testing/client';
import { startServer, textAnswer } from './testing/client';

let running: TestServer | undefined;
afterEach(async () => {
  await running?.stop();
  running = undefined;
});

const RULES: BrowserRules = {
  strictTransport: 'max-age=31536000; includeSubDomains',
  origins: [pattern('^https://(.*\\.)?example\\.com$')],
};

function pattern(text: string): BrowserRules['origins'][number] {
  const compiled = compilePattern(text);
  if ('problem' in compiled) throw new Error(compiled.problem);
  return compiled;
}

/** Refuses every request that reaches it. */
async function start(browsers: BrowserRules | undefined, ownHeaders = {}): Promise<TestServer> {
  const refused: Pipeline = async (exchange) => {
    exchange.answer = { ...textAnswer('who are you?', 401), headers: ownHeaders };
    await Promise.resolve();
  };
  const preflight = browsers === undefined ? undefined : createPreflightStage(browsers);
  const pipeline: Pipeline = async (exchange) =>
    preflight === undefined ? refused(exchange) : preflight(exchange, async () => refused(exchange));
  running = await startServer(pipeline, { browsers });
  return running;
}

test('every answer says that the server speaks TLS alone, unless it says so itself', async () => {
  const { send } = await start(RULES);
  const { headers } = await send({ path: '/' });
  expect(headers['strict-transport-security']).toBe('max-age=31536000; includeSubDomains');
  expect(headers['access-control-allow-origin']).toBeUndefined();
  await running?.stop();
  const own = await start(RULES, { 'strict-transport-security': 'max-age=1' });
  expect((await own.send({ path: '/' })).headers['strict-transport-security']).toBe('max-age=1');
});

test('an allowed origin gets CORS headers, on errors too', async () => {
  const { send } = await start(RULES);
  const { code, headers } = await send({ path: '/', headers: { Origin: 'https://ui.example.com' } });
  expect(code).toBe(401);
  expect(headers).toMatchObject({
    'access-control-allow-origin': 'https://ui.example.com',
    'access-control-allow-methods': 'POST, GET, OPTIONS, PUT, DELETE, PATCH',
    'access-control-allow-headers':
      'Content-Type, Content-Length, Accept-Encoding, X-CSRF-Token, Authorization, X-Requested-With, If-Modified-Since',
    'access-control-expose-headers': 'Date',
    'access-control-allow-credentials': 'true',
  });
});

test.each(['https://example.com.evil.org', 'null', `https://${'a'.repeat(1_024)}.example.com`])(
  'the origin %# gets no CORS headers, and its preflight is an ordinary request',
  async (origin) => {
    const { send } = await start(RULES);
    const answer = await send({ path: '/', method: 'OPTIONS', headers: { Origin: origin } });
    expect(answer.code).toBe(401);
    expect(answer.headers['access-control-allow-origin']).toBeUndefined();
  },
);

test('the preflight of an allowed origin is answered without credentials and without content', async () => {
  const { send } = await start(RULES);
  const answer = await send({ path: '/api', method: 'OPTIONS', headers: { Origin: 'https://example.com' } });
  expect(answer).toMatchObject({ code: 204, text: '' });
  expect(answer.headers).toMatchObject({ 'access-control-allow-origin': 'https://example.com' });
  expect(answer.headers['content-length']).toBeUndefined();
});

test('without rules there are no headers for browsers', async () => {
  const { send } = await start(undefined);
  const { headers } = await send({ path: '/', headers: { Origin: 'https://example.com' } });
  expect(Object.keys(headers).filter((name) => /^(?:access|strict)/u.test(name))).toEqual([]);
});
