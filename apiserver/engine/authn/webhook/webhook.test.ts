import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { TLSSocket } from 'node:tls';
import { issueCertificate, makeCa } from '../../../../shared/certs/certificate';
import type { Log } from '../../../../shared/log/log';
import { silentLog } from '../../../../shared/log/log';
import { GROUP } from '../../../../shared/names';
import { PATIENCE_MS } from '../../../../shared/testing/eventually';
import { whyUnauthorized } from '../authenticator';
import type { TokenAuthenticator } from '../token-authenticator';
import type { ReviewVersion } from '../../remote/review-call';
import { QUESTIONS_MAX, REMEMBERED_MAX } from '../../remote/questions';
import { createTokenReviewCall } from './token-review-call';
import type { WebhookTokenOptions } from './webhook-tokens';
import { webhookTokens } from './webhook-tokens';

interface Seen {
  readonly body: Record<string, unknown>;
  readonly client: string;
}

/** How the service answers the next question: a code with a body, `cut` or `hang`. */
type Behaviour = (
  body: Record<string, unknown>,
) => { code: number; body: unknown; headers?: object } | 'cut' | 'hang';

const ca = makeCa({ commonName: 'webhook ca', validDays: 1 });
const served = issueCertificate(ca, {
  commonName: 'w',
  hosts: ['127.0.0.1'],
  usages: ['server'],
  validDays: 1,
});
const own = issueCertificate(ca, { commonName: 'apiserver', usages: ['client'], validDays: 1 });

let behave: Behaviour;
let seen: Seen[];
let dir: string;
let shutdown: AbortController;
let now: number;
let logged: string[];
let server: ReturnType<typeof createServer>;

const API = ['api'];
const log: Log = {
  ...silentLog,
  warn: (fields) => logged.push(String('error' in fields ? fields.error : '')),
};

function reviewOf(body: Record<string, unknown>, status: unknown): { code: number; body: unknown } {
  return { code: 201, body: { apiVersion: body['apiVersion'], kind: 'TokenReview', status } };
}

const janeStatus = {
  authenticated: true,
  user: { username: 'jane', uid: '42', groups: ['devs'], extra: { k: ['v'] } },
};

beforeEach(async () => {
  [seen, logged, now, shutdown] = [[], [], 0, new AbortController()];
  behave = (body) => reviewOf(body, janeStatus);
  server = createServer(
    { cert: served.certificatePem, key: served.privateKeyPem, ca: ca.certificatePem, requestCert: true },
    (request, response) => {
      let text = '';
      request.on('data', (chunk: Buffer) => {
        text += chunk.toString();
      });
      request.on('end', () => {
        const body = JSON.parse(text) as Record<string, unknown>;
        const client = (request.socket as TLSSocket).getPeerCertificate().subject.CN;
        seen.push({ body, client: String(client) });
        const answer = behave(body);
        if (answer === 'cut') request.socket.destroy();
        else if (answer !== 'hang') {
          response.writeHead(answer.code, { ...answer.headers }).end(JSON.stringify(answer.body));
        }
      });
    },
  );
  server.listen({ host: '127.0.0.1', port: 0 });
  await once(server, 'listening');
  dir = mkdtempSync(path.join(tmpdir(), 'webhook-'));
  for (const [name, text] of Object.entries({
    'ca.crt': ca.certificatePem,
    'own.crt': own.certificatePem,
    'own.key': own.privateKeyPem,
  })) {
    writeFileSync(path.join(dir, name), text);
  }
  const { port } = server.address() as AddressInfo;
  const config = {
    clusters: [
      {
        name: 'c',
        cluster: { server: `https://127.0.0.1:${String(port)}/review`, 'certificate-authority': 'ca.crt' },
      },
    ],
    users: [{ name: 'u', user: { 'client-certificate': 'own.crt', 'client-key': 'own.key' } }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'x',
  };
  writeFileSync(path.join(dir, 'config'), JSON.stringify(config));
});
afterEach(async () => {
  shutdown.abort();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  rmSync(dir, { recursive: true });
});

interface Setup extends Partial<WebhookTokenOptions> {
  readonly version?: ReviewVersion;
}

function authenticator({ version = 'v1beta1', ...options }: Setup = {}): TokenAuthenticator {
  const ask = createTokenReviewCall({
    configFile: path.join(dir, 'config'),
    version,
    initialBackoffMs: 1,
    tryTimeoutMs: PATIENCE_MS,
  });
  return webhookTokens({
    ask,
    apiAudiences: API,
    ttlMs: 1_000,
    clock: { now: () => now },
    log,
    shutdownSignal: shutdown.signal,
    ...options,
  });
}

async function outcome(
  known: TokenAuthenticator,
  token = 't',
  audiences: readonly string[] = API,
): Promise<unknown> {
  try {
    return await known({ token, audiences }, new AbortController().signal);
  } catch (error) {
    return whyUnauthorized(error) ?? error;
  }
}

const UNASKED = 'the token webhook call failed';

test.each<ReviewVersion>(['v1', 'v1beta1'])(
  'the service is asked in version %s, and what it says of the user is believed',
  async (version) => {
    expect(await outcome(authenticator({ version }))).toEqual({
      user: { name: 'jane', uid: '42', groups: ['devs'], extra: { k: ['v'] } },
      audiences: API,
    });
    expect(seen).toEqual([
      {
        client: 'apiserver',
        body: {
          kind: 'TokenReview',
          apiVersion: `${GROUP.authentication}/${version}`,
          metadata: { creationTimestamp: null },
          spec: { token: 't', audiences: API },
          status: { user: {} },
        },
      },
    ]);
  },
);

test('a token is unknown where the service says no, and refused with the reason where it gives one', async () => {
  const known = authenticator();
  behave = (body) => reviewOf(body, { authenticated: false });
  expect(await outcome(known, 'a')).toBeUndefined();
  behave = (body) => reviewOf(body, { authenticated: false, error: 'revoked' });
  expect(await outcome(known, 'b')).toBe('revoked');
  behave = (body) => reviewOf(body, { ...janeStatus, error: 'of no matter' });
  expect(await outcome(known, 'c')).toMatchObject({ user: { name: 'jane' } });
  behave = (body) => reviewOf(body, {});
  expect(await outcome(known, 'd')).toBeUndefined();
});

test('a token is good for the audiences that the service names, and for this API if it names none', async () => {
  const known = authenticator();
  behave = (body) => reviewOf(body, { ...janeStatus, audiences: ['web', 'other'] });
  expect(await outcome(known, 'a', ['x', 'web'])).toMatchObject({ audiences: ['web'] });
  expect(await outcome(known, 'a', API)).toBeUndefined();
  behave = (body) => reviewOf(body, janeStatus);
  expect(await outcome(known, 'b', ['web'])).toBeUndefined();
});

describe('answers that are none', () => {
  test.each<[string, Behaviour, number]>([
    [
      'another version',
      () => ({ code: 200, body: { apiVersion: 'x/v1', kind: 'TokenReview', status: janeStatus } }),
      1,
    ],
    ['another kind', ({ apiVersion }) => ({ code: 200, body: { apiVersion, kind: 'Status' } }), 1],
    [
      'groups that are none',
      (body) => reviewOf(body, { ...janeStatus, user: { username: 'j', groups: [1] } }),
      1,
    ],
    ['audiences that are none', (body) => reviewOf(body, { ...janeStatus, audiences: 'web' }), 1],
    ['text as status', (body) => reviewOf(body, 'x'), 1],
    ['no boolean', (body) => reviewOf(body, { ...janeStatus, authenticated: 'true' }), 1],
    ['no user', (body) => reviewOf(body, { authenticated: true }), 1],
    ['a list', () => ({ code: 200, body: [] }), 1],
    ['a refusal', () => ({ code: 403, body: {} }), 1],
    ['an outage', () => ({ code: 503, body: {} }), 1],
    ['an outage that asks for patience', () => ({ code: 503, body: {}, headers: { 'retry-after': '1' } }), 5],
    ['an internal error', () => ({ code: 500, body: {} }), 5],
    ['a cut connection', () => 'cut', 5],
  ])('%s makes the token unknown, and is logged', async (_what, behaviour, tries) => {
    behave = behaviour;
    expect(await outcome(authenticator())).toBe(UNASKED);
    expect(seen).toHaveLength(tries);
    expect(logged).toHaveLength(1);
  });

  test('what passes is tried again', async () => {
    const turns: Behaviour[] = [
      () => ({ code: 500, body: {} }),
      () => 'cut',
      (body) => reviewOf(body, janeStatus),
    ];
    behave = (body) => turns.shift()?.(body) ?? 'hang';
    expect(await outcome(authenticator())).toMatchObject({ user: { name: 'jane' } });
  });

  test('an unreachable service has the same effect', async () => {
    const known = authenticator();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    expect(await outcome(known)).toBe(UNASKED);
    expect(logged).toEqual([expect.stringMatching(/ECONNREFUSED|refused/i)]);
    server.listen({ host: '127.0.0.1', port: 0 });
  });
});

describe('what was said', () => {
  test('stands for a while, be it yes or no; a reason does not', async () => {
    const known = authenticator();
    behave = (body) => {
      const { token } = body['spec'] as { token: string };
      if (token === 'yes') return reviewOf(body, janeStatus);
      return reviewOf(body, { authenticated: false, ...(token === 'no' ? {} : { error: 'why' }) });
    };
    for (let turn = 0; turn < 2; turn += 1) {
      await outcome(known, 'yes');
      await outcome(known, 'no');
      await outcome(known, 'reason');
    }
    expect(seen.map(({ body }) => (body['spec'] as { token: string }).token)).toEqual([
      'yes',
      'no',
      'reason',
      'reason',
    ]);
    now += 1_000;
    await outcome(known, 'yes');
    expect(seen).toHaveLength(5);
  });

  test('stands no longer because the clock was set back', async () => {
    const known = authenticator();
    await outcome(known);
    now -= 60_000;
    await outcome(known);
    expect(seen).toHaveLength(2);
  });

  test('is asked each time where nothing is to be remembered', async () => {
    const known = authenticator({ ttlMs: 0 });
    await outcome(known);
    await outcome(known);
    expect(seen).toHaveLength(2);
  });

  test('is for one token and its audiences', async () => {
    const known = authenticator();
    behave = (body) => reviewOf(body, { ...janeStatus, audiences: ['api', 'web'] });
    await outcome(known, 't', ['api']);
    expect(await outcome(known, 't', ['web'])).toMatchObject({ audiences: ['web'] });
    expect(seen).toHaveLength(2);
  });
});

describe('tokens that somebody makes up', () => {
  const jane = { name: 'jane', uid: '', groups: [], extra: {} };
  const isMadeUp = (token: string): boolean => token.startsWith('made up');

  test('do not push those out that are known', async () => {
    const asked: string[] = [];
    const known = authenticator({
      ask: async ({ token }) => {
        asked.push(token);
        return Promise.resolve(
          isMadeUp(token) ? { isKnown: false, why: '' } : { isKnown: true, user: jane, audiences: [] },
        );
      },
    });
    await outcome(known);
    for (let n = 0; n <= REMEMBERED_MAX; n += 1) await outcome(known, `made up ${String(n)}`);
    await outcome(known);
    expect(asked.filter((token) => !isMadeUp(token))).toEqual(['t']);
    await outcome(known, `made up ${String(REMEMBERED_MAX)}`);
    expect(asked).toHaveLength(REMEMBERED_MAX + 2);
    await outcome(known, 'made up 0');
    expect(asked).toHaveLength(REMEMBERED_MAX + 3);
  });

  test('leave room for the question about one that was good a while ago', async () => {
    const known = authenticator({
      ask: async ({ token }, signal) => {
        if (isMadeUp(token)) await once(signal, 'abort');
        return { isKnown: true, user: jane, audiences: [] };
      },
    });
    await outcome(known);
    now += 1_000;
    const held = Array.from({ length: QUESTIONS_MAX }, async (_each, n) =>
      outcome(known, `made up ${String(n)}`),
    );
    expect(await outcome(known, 'new')).toBe(UNASKED);
    expect(await outcome(known)).toMatchObject({ user: jane });
    shutdown.abort();
    await Promise.all(held);
  });

  test('a very large user is not cached', async () => {
    const known = authenticator();
    behave = (body) => reviewOf(body, { authenticated: true, user: { username: 'x'.repeat(100_000) } });
    await outcome(known);
    await outcome(known);
    expect(seen).toHaveLength(2);
  });
});

describe('many at once', () => {
  test('equal questions are one, and who gives up does not take it from the others', async () => {
    let answer = (): void => undefined;
    const asked: string[] = [];
    const known = authenticator({
      ask: async ({ token }) => {
        asked.push(token);
        await new Promise<void>((resolve) => {
          answer = resolve;
        });
        return { isKnown: true, user: { name: 'jane', uid: '', groups: [], extra: {} }, audiences: [] };
      },
    });
    const leaving = new AbortController();
    const gone = known({ token: 't', audiences: API }, leaving.signal);
    const others = [1, 2, 3].map(async () => outcome(known));
    leaving.abort(new Error('gone'));
    await expect(gone).rejects.toThrow('gone');
    answer();
    expect(await Promise.all(others)).toEqual(
      [1, 2, 3].map(() => expect.objectContaining({ audiences: API }) as unknown),
    );
    expect(asked).toEqual(['t']);
  });

  test('a service that hangs holds a bounded number of questions, and the rest is refused at once', async () => {
    let under = 0;
    const known = authenticator({
      ask: async (_question, signal) => {
        under += 1;
        await once(signal, 'abort');
        throw new Error('stopped');
      },
    });
    const held = Array.from({ length: QUESTIONS_MAX }, async (_each, n) => outcome(known, `t${String(n)}`));
    expect(await outcome(known, 'one more')).toBe(UNASKED);
    expect(under).toBe(QUESTIONS_MAX);
    expect(logged).toEqual([expect.stringMatching(/too many pending calls/)]);
    shutdown.abort();
    expect(new Set(await Promise.all(held))).toEqual(new Set([UNASKED]));
  });
});
