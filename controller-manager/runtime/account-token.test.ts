import type { Client } from '../../shared/client/client';
import { createClient } from '../../shared/client/client';
import type { ApiObject } from '../../shared/object/object';
import { StatusError } from '../../shared/errors/status-error';
import { accountTokenSource } from './account-token';

const ACCOUNT = { namespace: 'system', name: 'worker' };
const NEVER = undefined;

/** A client that issues tokens for existing accounts. */
function tokenGiver(accounts: Set<string>): { client: Client; given: () => number } {
  const real = createClient({ server: 'http://127.0.0.1:1' });
  let given = 0;
  const client: Client = {
    ...real,
    create: async (_resource, object) => {
      accounts.add(object.metadata.name ?? '');
      return Promise.resolve(object as never);
    },
    createSubresource: async <T extends ApiObject>(_resource: unknown, { name }: { name: string }) => {
      if (!accounts.has(name)) throw new StatusError('NotFound', 'no such account');
      given += 1;
      return Promise.resolve({ metadata: {}, status: { token: `token-${String(given)}` } } as unknown as T);
    },
  };
  return { client, given: () => given };
}

test('a missing account is created, and concurrent callers share its token (single-flight)', async () => {
  const accounts = new Set<string>();
  const { client, given } = tokenGiver(accounts);
  const source = accountTokenSource(client, ACCOUNT);
  const tokens = await Promise.all([source.token(NEVER), source.token(NEVER)]);
  expect(tokens).toEqual(['token-1', 'token-1']);
  expect([...accounts]).toEqual(['worker']);
  expect(await source.token(NEVER)).toBe('token-1');
  expect(given()).toBe(1);
});

test('a token is replaced long before it expires', async () => {
  const { client } = tokenGiver(new Set(['worker']));
  let nowMs = 0;
  const source = accountTokenSource(client, ACCOUNT, { now: () => nowMs });
  expect(await source.token(NEVER)).toBe('token-1');
  nowMs = 44 * 60_000;
  expect(await source.token(NEVER)).toBe('token-1');
  nowMs = 46 * 60_000;
  expect(await source.token(NEVER)).toBe('token-2');
});

test('a refused token is not used again, but its replacement is', async () => {
  const { client } = tokenGiver(new Set(['worker']));
  const source = accountTokenSource(client, ACCOUNT);
  const first = await source.token(NEVER);
  source.refused(first);
  const second = await source.token(NEVER);
  expect(second).not.toBe(first);
  source.refused(first);
  expect(await source.token(NEVER)).toBe(second);
});

test('a failure is reported to all waiting callers, and the next one retries', async () => {
  const { client } = tokenGiver(new Set(['worker']));
  let isOut = true;
  const flaky: Client = {
    ...client,
    createSubresource: async (...args) => {
      if (isOut) throw new StatusError('ServiceUnavailable', 'not now');
      return client.createSubresource(...args) as never;
    },
  };
  const source = accountTokenSource(flaky, ACCOUNT);
  await expect(source.token(NEVER)).rejects.toThrow('not now');
  isOut = false;
  expect(await source.token(NEVER)).toBe('token-1');
});
