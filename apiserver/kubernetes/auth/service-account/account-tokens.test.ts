import { signToken } from '../../../../shared/tokens/json-web-token';
import { newKeyPem } from '../../../../shared/certs/testing/new-key-pem';
import type { SigningKey } from '../../../../shared/tokens/token-key';
import { signingKeyOf } from '../../../../shared/tokens/token-key';
import {
  ACCOUNT_TOKEN,
  ANNOTATION,
  AUDIT_ANNOTATION,
  SECRET_TYPE,
  SERVICE_ACCOUNT,
} from '../../../../shared/names';
import type { InProcessApi } from '../../../testing/in-process-api';
import { startInProcessApi, TOKEN_KEY } from '../../../testing/in-process-api';
import { whyUnauthorized } from '../../../engine/authn/authenticator';
import type { TokenAuthenticator, TokenResult } from '../../../engine/authn/token-authenticator';
import type { AccountObjects } from './account-objects';
import { accountObjects } from './account-objects';
import { boundTokens } from './bound-tokens';
import { legacyTokens } from './legacy-tokens';
import { newTokenCounts } from './token-counts';

const CORE = '/api/v1/namespaces/default';
const AUDIENCES: readonly string[] = [ACCOUNT_TOKEN.issuer];
const HOUR_MS = 3_600_000;

let api: InProcessApi;
let now = 0;
let counts = newTokenCounts();
let objects: AccountObjects;

beforeEach(async () => {
  api = await startInProcessApi();
  now = Date.now();
  counts = newTokenCounts();
  objects = accountObjects(api.plane.store, api.plane.registry);
  await make('serviceaccounts', 'robot');
});

afterEach(async () => {
  await api.close();
});

async function make(resource: string, name: string, more: object = {}): Promise<string> {
  const { code, json } = await api.call('POST', `${CORE}/${resource}`, {
    body: { metadata: { name }, ...more },
  });
  expect(code).toBe(201);
  return json.metadata.uid;
}

async function remove(resource: string, name: string): Promise<void> {
  expect((await api.call('DELETE', `${CORE}/${resource}/${name}?gracePeriodSeconds=0`)).code).toBe(200);
}

async function newToken(spec: object = {}): Promise<string> {
  const { json } = await api.call('POST', `${CORE}/serviceaccounts/robot/token`, { body: { spec } });
  return json.status.token;
}

function authenticator(key: SigningKey = TOKEN_KEY): TokenAuthenticator {
  return boundTokens({
    issuer: ACCOUNT_TOKEN.issuer,
    keys: [key],
    apiAudiences: AUDIENCES,
    objects,
    counts,
    clock: { now: () => now },
  });
}

function legacyAuthenticator(lookup = true): TokenAuthenticator {
  return legacyTokens({ keys: [TOKEN_KEY], apiAudiences: AUDIENCES, objects, counts, lookup });
}

/** The user, or why there is none. */
async function outcome(
  token: string,
  { by = authenticator(), audiences = AUDIENCES } = {},
): Promise<TokenResult | string> {
  try {
    const result = await by({ token, audiences }, new AbortController().signal);
    if (result === undefined) return 'unknown';
    const { ground: _ground, ...rest } = result;
    return rest;
  } catch (error) {
    const why = whyUnauthorized(error);
    if (why === undefined) throw error;
    return why;
  }
}

/** What a watch with the token would stand on: why it is over, or `holds`. */
async function standing(token: string, by = authenticator()): Promise<() => Promise<string>> {
  const { signal } = new AbortController();
  const ground = (await by({ token, audiences: AUDIENCES }, signal))?.ground?.();
  return async () => whyUnauthorized(await ground?.refusal(signal)) ?? 'holds';
}

const POD = { spec: { serviceAccountName: 'robot', containers: [{ name: 'c', image: 'i' }] } };

describe('a watch with a token of a service account', () => {
  test('ends with the account', async () => {
    const of = await standing(await newToken());
    expect(await of()).toBe('holds');
    await remove('serviceaccounts', 'robot');
    expect(await of()).toBe('the service account does not exist');
    await make('serviceaccounts', 'robot');
    expect(await of()).toBe('the service account was replaced');
  });

  test('ends with the token’s time', async () => {
    const of = await standing(await newToken({ expirationSeconds: 3600 }));
    now += HOUR_MS;
    expect(await of()).toBe('holds');
    now += HOUR_MS;
    expect(await of()).toBe('token has expired');
  });

  test('is known by what it stands on as long as the token is remembered', async () => {
    const [token, by] = [await newToken(), authenticator()];
    const { signal } = new AbortController();
    const keyOf = async () => (await by({ token, audiences: AUDIENCES }, signal))?.ground?.().key;
    const key = await keyOf();
    expect(key).toBeDefined();
    expect(await keyOf()).toBe(key);
  });
});

describe('a token of a service account', () => {
  test('makes its bearer that account, in the groups of all accounts and of its namespace', async () => {
    const { json } = await api.call('GET', `${CORE}/serviceaccounts/robot`);
    expect(await outcome(await newToken())).toEqual({
      user: {
        name: 'system:serviceaccount:default:robot',
        uid: json.metadata.uid,
        groups: ['system:serviceaccounts', 'system:serviceaccounts:default'],
        extra: {},
      },
      audiences: AUDIENCES,
    });
  });

  test('is valid for its audiences, and refused for others with both lists', async () => {
    const token = await newToken({ audiences: ['b', 'a'] });
    expect(await outcome(token, { audiences: ['a', 'x', 'b'] })).toMatchObject({ audiences: ['a', 'b'] });
    expect(await outcome(token)).toBe(
      `token audiences ["b" "a"] is invalid for the target audiences ["${ACCOUNT_TOKEN.issuer}"]`,
    );
  });

  test('ends at its time, give or take a minute', async () => {
    const token = await newToken();
    const by = authenticator();
    now += HOUR_MS + 55_000;
    expect(await outcome(token, { by })).toMatchObject({ audiences: AUDIENCES });
    now += 10_000;
    expect(await outcome(token, { by })).toBe('token has expired');
    now -= 2 * HOUR_MS;
    expect(await outcome(token, { by })).toBe('token is not valid yet');
  });

  test('of another key is refused, and one of another issuer is left to others', async () => {
    const token = await newToken();
    expect(await outcome(token, { by: authenticator(signingKeyOf(newKeyPem('rsa').privateKey)) })).toMatch(
      /signature/,
    );
    const foreign = await signToken(TOKEN_KEY, { iss: 'https://elsewhere' });
    expect(await outcome(foreign)).toBe('unknown');
    expect(await outcome('nonsense')).toBe('unknown');
    expect(await outcome('x'.repeat(100_000))).toBe('unknown');
  });

  test('dies with its account, and is not the token of the next one of that name', async () => {
    const token = await newToken();
    const by = authenticator();
    expect(await outcome(token, { by })).toMatchObject({ audiences: AUDIENCES });
    await remove('serviceaccounts', 'robot');
    expect(await outcome(token, { by })).toBe('the service account does not exist');
    await make('serviceaccounts', 'robot');
    expect(await outcome(token, { by })).toBe('the service account was replaced');
  });

  test('survives a minute of its account being deleted and not more', async () => {
    const token = await newToken();
    const finalizers = ['example.com/hold'];
    await api.call('PATCH', `${CORE}/serviceaccounts/robot`, { body: { metadata: { finalizers } } });
    await api.call('DELETE', `${CORE}/serviceaccounts/robot`);
    expect(await outcome(token)).toMatchObject({ audiences: AUDIENCES });
    now += 65_000;
    expect(await outcome(token)).toBe('the service account has been deleted');
  });

  test.each([
    ['pods', 'Pod', POD, 'pod'],
    ['secrets', 'Secret', {}, 'secret'],
  ])('bound to one of the %s dies with it', async (resource, kind, body, what) => {
    const uid = await make(resource, 'bound', body);
    const token = await newToken({ boundObjectRef: { kind, apiVersion: 'v1', name: 'bound' } });
    const extra =
      kind === 'Pod' ? { [SERVICE_ACCOUNT.podName]: ['bound'], [SERVICE_ACCOUNT.podUid]: [uid] } : {};
    expect(await outcome(token)).toMatchObject({ user: { extra } });
    await remove(resource, 'bound');
    expect(await outcome(token)).toBe(`the ${what} does not exist`);
    await make(resource, 'bound', body);
    expect(await outcome(token)).toBe(`the ${what} was replaced`);
  });

  test('is not refused for what this replica has not heard of yet', async () => {
    const token = await newToken();
    objects = { ...objects, cached: async () => Promise.resolve(undefined) };
    expect(await outcome(token)).toMatchObject({ audiences: AUDIENCES });
  });

  test('is counted before and after the time it should have been renewed', async () => {
    await make('pods', 'p', POD);
    const boundObjectRef = { kind: 'Pod', apiVersion: 'v1', name: 'p' };
    const token = await newToken({ boundObjectRef, expirationSeconds: 3607 });
    await outcome(token);
    expect(counts).toMatchObject({ legacy: 0, stale: 0, valid: 1 });
    now += 2 * HOUR_MS;
    expect(await outcome(token)).toMatchObject({
      audiences: AUDIENCES,
      notes: {
        [AUDIT_ANNOTATION.staleToken]: expect.stringMatching(
          /^subject: system:serviceaccount:default:robot, seconds after warning threshold: 35[89]\d$/,
        ) as string,
      },
    });
    expect(counts).toMatchObject({ legacy: 0, stale: 1, valid: 1 });
    await outcome(await newToken());
    expect(counts).toMatchObject({ legacy: 0, stale: 1, valid: 1 });
  });

  test.each([
    ['an audience that is no text', { aud: [1] }],
    ['a time that is no number', { exp: 'tomorrow' }],
    ['a pod that is no object', { [ACCOUNT_TOKEN.claim]: { pod: 'p' } }],
    ['a Secret whose name is no text', { [ACCOUNT_TOKEN.claim]: { secret: { name: 1 } } }],
  ])('with %s is malformed', async (_what, claims) => {
    const token = await signToken(TOKEN_KEY, { iss: ACCOUNT_TOKEN.issuer, ...claims });
    expect(await outcome(token)).toBe('the claims are malformed');
  });

  test('without an end is good for as long as its account, as upstream', async () => {
    const { json } = await api.call('GET', `${CORE}/serviceaccounts/robot`);
    const serviceaccount = { name: 'robot', uid: json.metadata.uid };
    const claim = { [ACCOUNT_TOKEN.claim]: { namespace: 'default', serviceaccount } };
    const token = await signToken(TOKEN_KEY, { iss: ACCOUNT_TOKEN.issuer, aud: AUDIENCES, ...claim });
    now += 10_000 * HOUR_MS;
    expect(await outcome(token)).toMatchObject({ audiences: AUDIENCES });
  });

  test('that names no audience, be it in an empty list, is for the API alone, and noted', async () => {
    const { json } = await api.call('GET', `${CORE}/serviceaccounts/robot`);
    const serviceaccount = { name: 'robot', uid: json.metadata.uid };
    const claim = { [ACCOUNT_TOKEN.claim]: { namespace: 'default', serviceaccount } };
    const token = await signToken(TOKEN_KEY, { iss: ACCOUNT_TOKEN.issuer, aud: [], ...claim });
    expect(await outcome(token)).toMatchObject({
      audiences: AUDIENCES,
      notes: { [AUDIT_ANNOTATION.legacyToken]: 'system:serviceaccount:default:robot' },
    });
    expect(counts.legacy).toBe(1);
    expect(await outcome(token, { audiences: ['x'] })).toMatch(/is invalid for the target audiences/);
  });

  test('that names no account is refused', async () => {
    const token = await signToken(TOKEN_KEY, { iss: ACCOUNT_TOKEN.issuer, aud: AUDIENCES });
    expect(await outcome(token)).toBe('the service account does not exist');
  });
});

describe('a token of a Secret', () => {
  async function legacyToken(change: object = {}): Promise<string> {
    const { json } = await api.call('GET', `${CORE}/serviceaccounts/robot`);
    return signToken(TOKEN_KEY, {
      iss: ACCOUNT_TOKEN.legacyIssuer,
      sub: 'system:serviceaccount:default:robot',
      [ACCOUNT_TOKEN.legacyNamespace]: 'default',
      [ACCOUNT_TOKEN.legacySecretName]: 'robot-token',
      [ACCOUNT_TOKEN.legacyAccountName]: 'robot',
      [ACCOUNT_TOKEN.legacyAccountUid]: json.metadata.uid,
      ...change,
    });
  }

  async function keep(token: string): Promise<void> {
    await make('secrets', 'robot-token', {
      metadata: { name: 'robot-token', annotations: { [ANNOTATION.serviceAccountName]: 'robot' } },
      type: SECRET_TYPE.serviceAccountToken,
      stringData: { token },
    });
  }

  test('is good while its Secret holds it', async () => {
    const token = await legacyToken();
    const by = legacyAuthenticator();
    expect(await outcome(token, { by })).toBe('Token has been invalidated');
    await keep(token);
    expect(await outcome(token, { by })).toMatchObject({
      user: { name: 'system:serviceaccount:default:robot' },
      audiences: AUDIENCES,
      notes: { [AUDIT_ANNOTATION.legacyToken]: 'system:serviceaccount:default:robot' },
    });
    expect(counts.legacy).toBe(1);
    await api.call('PATCH', `${CORE}/secrets/robot-token`, { body: { stringData: { token: 'new' } } });
    expect(await outcome(token, { by })).toBe("Token does not match server's copy");
    await remove('secrets', 'robot-token');
    expect(await outcome(token, { by })).toBe('Token has been invalidated');
  });

  test('lets a watch go on while its Secret holds it, where anybody looks', async () => {
    const token = await legacyToken();
    await keep(token);
    const of = await standing(token, legacyAuthenticator());
    expect(await of()).toBe('holds');
    await api.call('PATCH', `${CORE}/secrets/robot-token`, { body: { stringData: { token: 'new' } } });
    expect(await of()).toBe("Token does not match server's copy");
    await remove('secrets', 'robot-token');
    expect(await of()).toBe('Token has been invalidated');
    expect(await (await standing(token, legacyAuthenticator(false)))()).toBe('holds');
  });

  test('dies with its account', async () => {
    const token = await legacyToken();
    await keep(token);
    await remove('serviceaccounts', 'robot');
    expect(await outcome(token, { by: legacyAuthenticator() })).toBe('the service account has been deleted');
    await make('serviceaccounts', 'robot');
    expect(await outcome(token, { by: legacyAuthenticator() })).toBe('the service account was replaced');
  });

  test.each([
    ['secrets', 'robot-token', 'Token has been invalidated'],
    ['serviceaccounts', 'robot', 'the service account has been deleted'],
  ])('dies when one of the %s begins to be deleted', async (resource, name, why) => {
    const token = await legacyToken();
    await keep(token);
    const finalizers = ['example.com/hold'];
    await api.call('PATCH', `${CORE}/${resource}/${name}`, { body: { metadata: { finalizers } } });
    expect(await outcome(token, { by: legacyAuthenticator() })).toMatchObject({ audiences: AUDIENCES });
    await api.call('DELETE', `${CORE}/${resource}/${name}`);
    expect(await outcome(token, { by: legacyAuthenticator() })).toBe(why);
  });

  test('is good for ever where nothing is looked up', async () => {
    expect(await outcome(await legacyToken(), { by: legacyAuthenticator(false) })).toMatchObject({
      user: { name: 'system:serviceaccount:default:robot' },
    });
  });

  test('is meant for the API alone', async () => {
    const token = await legacyToken();
    await keep(token);
    expect(await outcome(token, { by: legacyAuthenticator(), audiences: ['x'] })).toBe(
      `token audiences ["${ACCOUNT_TOKEN.issuer}"] is invalid for the target audiences ["x"]`,
    );
  });

  test('is no token of the new kind, and the other way round', async () => {
    expect(await outcome(await legacyToken())).toBe('unknown');
    expect(await outcome(await newToken(), { by: legacyAuthenticator() })).toBe('unknown');
  });

  test.each([
    [ACCOUNT_TOKEN.legacyNamespace, 'namespace claim is missing'],
    [ACCOUNT_TOKEN.legacySecretName, 'secretName claim is missing'],
    [ACCOUNT_TOKEN.legacyAccountName, 'serviceAccountName claim is missing'],
    [ACCOUNT_TOKEN.legacyAccountUid, 'serviceAccountUID claim is missing'],
    ['sub', 'sub claim is invalid'],
  ])('without %s is refused', async (claim, why) => {
    const token = await legacyToken({ [claim]: '' });
    expect(await outcome(token, { by: legacyAuthenticator(false) })).toBe(why);
  });
});
