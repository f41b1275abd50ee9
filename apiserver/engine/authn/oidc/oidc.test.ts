import { createHmac, generateKeyPairSync } from 'node:crypto';
import type { TokenAlgorithm } from '../../../../shared/tokens/token-key';
import { TOKEN_ALGORITHMS, tokenKeysOfJwk } from '../../../../shared/tokens/token-key';
import type { Rate } from '../../../../shared/concurrency/token-bucket';
import type { Log } from '../../../../shared/log/log';
import { silentLog } from '../../../../shared/log/log';
import type { UserInfo } from '../../request/exchange';
import { whyUnauthorized } from '../authenticator';
import type { TestIssuer, TestKey } from '../testing/test-issuer';
import { encode, idToken, newEcKey, newRsaKey, startIssuer } from '../testing/test-issuer';
import { createFetchJson } from './fetch-json';
import { VerifiedTokens } from '../verified-tokens';
import type { IdTokenRules } from './id-tokens';
import { idTokenLookup } from './id-tokens';
import type { IssuerKeys } from './issuer-keys';
import { followIssuerKeys, UNKNOWN_MS } from './issuer-keys';
import { patience } from '../../../../shared/testing/eventually';

const rsa = newRsaKey('r');
const curves: Readonly<Record<string, TestKey>> = {
  ES256: newEcKey('e256', 'P-256'),
  ES384: newEcKey('e384', 'P-384'),
  ES512: newEcKey('e512', 'P-521'),
};
const CLIENT = 'my-cluster';

let issuer: TestIssuer;
let shutdown: AbortController;
let now: number;
let logged: string[];
beforeEach(async () => {
  issuer = await startIssuer([rsa, ...Object.values(curves)]);
  shutdown = new AbortController();
  now = Date.now();
  logged = [];
});
afterEach(async () => {
  shutdown.abort();
  await issuer.stop();
});

const log: Log = {
  ...silentLog,
  warn: (fields) => logged.push(String('error' in fields ? fields.error : '')),
};

async function follow(
  algorithms: readonly TokenAlgorithm[] = TOKEN_ALGORITHMS,
  fetchRate?: Rate,
): Promise<IssuerKeys> {
  const keys = followIssuerKeys({
    issuer: issuer.url,
    algorithms,
    fetchJson: createFetchJson(() => issuer.caPem),
    clock: { now: () => now },
    log,
    shutdownSignal: shutdown.signal,
    ...(fetchRate === undefined ? {} : { fetchRate }),
  });
  await keys.refresh();
  return keys;
}

function claimsOf(more: object = {}): object {
  return { iss: issuer.url, aud: CLIENT, sub: '42', exp: now / 1000 + 60, ...more };
}

interface Asked extends Partial<IdTokenRules> {
  readonly keys?: IssuerKeys;
}

async function lookUpOf({ keys, ...rules }: Asked): Promise<ReturnType<typeof idTokenLookup>> {
  return idTokenLookup(
    {
      issuer: issuer.url,
      clientId: CLIENT,
      usernameClaim: 'sub',
      usernamePrefix: '',
      groupsClaim: undefined,
      groupsPrefix: '',
      requiredClaims: {},
      ...rules,
    },
    { keys: keys ?? (await follow()), clock: { now: () => now } },
  );
}

/** The user of a token, or why it is refused. */
async function outcome(token: string, asked: Asked = {}): Promise<UserInfo | string | undefined> {
  const lookUp = await lookUpOf(asked);
  try {
    return (await lookUp(token))?.user;
  } catch (error) {
    return whyUnauthorized(error) ?? String(error);
  }
}

test('a watch with a token ends with the token', async () => {
  const found = await (await lookUpOf({}))(idToken(rsa, 'RS256', claimsOf()));
  const ground = found?.ground?.();
  expect(await ground?.refusal(patience())).toBeUndefined();
  now += 61_000;
  expect(whyUnauthorized(await ground?.refusal(patience()))).toBe('oidc: the token has expired');
});

describe('signatures', () => {
  test.each(TOKEN_ALGORITHMS)('a token signed with %s makes its bearer known', async (algorithm) => {
    const token = idToken(curves[algorithm] ?? rsa, algorithm, claimsOf());
    expect(await outcome(token)).toEqual({ name: '42', uid: '', groups: [], extra: {} });
  });

  test('only the algorithms that are asked for count', async () => {
    const keys = await follow(['RS256']);
    expect(await outcome(idToken(rsa, 'RS256', claimsOf()), { keys })).toMatchObject({ name: '42' });
    expect(await outcome(idToken(rsa, 'RS512', claimsOf()), { keys })).toMatch(/signature/);
  });

  test('a key may say which algorithm it is for', async () => {
    issuer.keys = [{ ...rsa.jwk, alg: 'PS256' }];
    const keys = await follow();
    expect(await outcome(idToken(rsa, 'PS256', claimsOf()), { keys })).toMatchObject({ name: '42' });
    expect(await outcome(idToken(rsa, 'RS256', claimsOf()), { keys })).toMatch(/signature/);
  });

  test('neither no signature, nor one with a public key as a secret, nor that of a stranger is good', async () => {
    const keys = await follow();
    const body = encode(claimsOf());
    const none = `${encode({ alg: 'none' })}.${body}.`;
    const signed = `${encode({ alg: 'HS256', kid: 'r' })}.${body}`;
    const publicKey = JSON.stringify(rsa.jwk);
    const keyed = `${signed}.${createHmac('sha256', publicKey).update(signed).digest('base64url')}`;
    const stranger = idToken(newRsaKey('r'), 'RS256', claimsOf());
    for (const token of [none, keyed, stranger]) expect(await outcome(token, { keys })).toMatch(/signature/);
  });

  test('keys that are not for signatures, short, private or of no known kind are passed over', async () => {
    const short = generateKeyPairSync('rsa', { modulusLength: 1_024 });
    issuer.keys = [
      { ...rsa.jwk, use: 'enc' },
      { ...rsa.jwk, use: 1 },
      { ...rsa.jwk, key_ops: ['encrypt'] },
      { ...rsa.privateKey.export({ format: 'jwk' }), kid: 'r' },
      { ...short.publicKey.export({ format: 'jwk' }), kid: 'short' },
      { kty: 'oct', k: 'c2VjcmV0', kid: 'o' },
      { kty: 'RSA' },
      {},
    ];
    expect((await follow()).tokens()).toBeUndefined();
    expect(logged.at(-1)).toMatch(/the key set has no key for/);
  });
});

describe('claims', () => {
  test.each<[string, object, RegExp]>([
    ['for another client', { aud: 'other' }, /another audience/],
    ['for several others', { aud: ['other', 'x'] }, /another audience/],
    ['without an audience', { aud: undefined }, /another audience/],
    ['past its end', { exp: 1 }, /expired/],
    ['without an end', { exp: undefined }, /no expiration time/],
    ['with an end in words', { exp: 'tomorrow' }, /no expiration time/],
    ['before its time', { nbf: Date.now() / 1000 + 3_600 }, /not valid yet/],
    ['without a name', { sub: undefined }, /the claim sub is not a name/],
    ['with an empty name', { sub: '' }, /the claim sub is not a name/],
    ['with a number for a name', { sub: 42 }, /the claim sub is not a name/],
  ])('a token %s is refused', async (_what, more, why) => {
    expect(await outcome(idToken(rsa, 'RS256', claimsOf(more)))).toMatch(why);
  });

  test('a token of another issuer, or none at all, is left to others', async () => {
    expect(await outcome(idToken(rsa, 'RS256', claimsOf({ iss: 'https://other' })))).toBeUndefined();
    expect(await outcome('opaque')).toBeUndefined();
  });

  test('a token may be meant for several, and begin a moment ahead', async () => {
    const more = { aud: ['x', CLIENT], nbf: now / 1000 + 30 };
    expect(await outcome(idToken(rsa, 'RS256', claimsOf(more)))).toMatchObject({ name: '42' });
  });

  test('names and groups are those of the claims, with what stands before them', async () => {
    const rules = { usernameClaim: 'login', usernamePrefix: 'u:', groupsClaim: 'roles', groupsPrefix: 'g:' };
    const ask = async (more: object) => outcome(idToken(rsa, 'RS256', claimsOf(more)), rules);
    expect(await ask({ login: 'al', roles: ['a', 'b'] })).toMatchObject({
      name: 'u:al',
      groups: ['g:a', 'g:b'],
    });
    expect(await ask({ login: 'al', roles: 'a' })).toMatchObject({ groups: ['g:a'] });
    expect(await ask({ login: 'al' })).toMatchObject({ groups: [] });
    expect(await ask({ login: 'al', roles: ['a', 1] })).toMatch(/the claim roles is not a list of names/);
  });

  test.each([true, undefined])('an email address that is verified as %p is a name', async (verified) => {
    const token = idToken(rsa, 'RS256', claimsOf({ email: 'a@b.c', email_verified: verified }));
    expect(await outcome(token, { usernameClaim: 'email' })).toMatchObject({ name: 'a@b.c' });
  });

  test.each([false, 'true', null])('an email address that is verified as %p is none', async (verified) => {
    const token = idToken(rsa, 'RS256', claimsOf({ email: 'a@b.c', email_verified: verified }));
    expect(await outcome(token, { usernameClaim: 'email' })).toMatch(/not verified/);
    expect(await outcome(token)).toMatchObject({ name: '42' });
  });

  test('required claims must be there with their values', async () => {
    const ask = async (more: object) =>
      outcome(idToken(rsa, 'RS256', claimsOf(more)), { requiredClaims: { hd: 'x.y', tier: '1' } });
    expect(await ask({ hd: 'x.y', tier: '1' })).toMatchObject({ name: '42' });
    expect(await ask({ hd: 'x.y' })).toBe('oidc: the required claim tier is missing');
    expect(await ask({ hd: 'z', tier: '1' })).toBe('oidc: the required claim hd has another value');
    expect(await ask({ hd: 'x.y', tier: 1 })).toBe('oidc: the required claim tier has another value');
  });
});

describe('the keys of the issuer', () => {
  test('a key that is new is looked for at once when a token names it, by all together', async () => {
    const keys = await follow();
    const fresh = newRsaKey('new');
    const token = idToken(fresh, 'RS256', claimsOf());
    expect(issuer.asked()).toBe(1);
    issuer.keys = [fresh.jwk];
    const answers = await Promise.all([1, 2, 3].map(async () => outcome(token, { keys })));
    expect(answers).toEqual([1, 2, 3].map(() => expect.objectContaining({ name: '42' }) as unknown));
    expect(issuer.asked()).toBe(2);
    // The old key is gone, and with it the tokens that were verified with it.
    expect(await outcome(idToken(rsa, 'RS256', claimsOf()), { keys })).toMatch(/signature/);
  });

  test('a key that others bring while a token is verified with those before counts', async () => {
    const fresh = newRsaKey('new');
    const setOf = async ({ jwk }: TestKey): Promise<VerifiedTokens> =>
      new VerifiedTokens({
        issuer: issuer.url,
        keys: await tokenKeysOfJwk(jwk, TOKEN_ALGORITHMS),
        tokensMax: 1,
      });
    const later = await setOf(fresh);
    let current = await setOf(rsa);
    const keys: IssuerKeys = {
      tokens: () => current,
      has: () => current === later,
      fetchUnknown: async () => Promise.reject(new Error('it is there')),
      refresh: async () => Promise.resolve(),
    };
    const lookUp = await lookUpOf({ keys });
    const found = lookUp(idToken(fresh, 'RS256', claimsOf()));
    current = later;
    expect(await found).toMatchObject({ user: { name: '42' } });
  });

  test('made-up names of keys neither burden the issuer nor keep a new key from being found', async () => {
    const keys = await follow(TOKEN_ALGORITHMS, { perSecond: 100, burst: 2 });
    const madeUp = async (name: string): Promise<unknown> =>
      outcome(idToken({ ...rsa, keyId: name }, 'HS256', claimsOf()), { keys });
    expect(await madeUp('first')).toMatch(/signature/);
    expect(issuer.asked()).toBe(2);
    // Nothing may be asked now, and others wait already.
    const others = Array.from({ length: 50 }, async (_none, at) => madeUp(`made-up ${String(at)}`));
    const fresh = newRsaKey('new');
    issuer.keys = [fresh.jwk];
    const right = outcome(idToken(fresh, 'RS256', claimsOf()), { keys });
    expect(issuer.asked()).toBe(2);
    now += 10;
    expect(await right).toMatchObject({ name: '42' });
    await Promise.all(others);
    expect(issuer.asked()).toBe(3);
  });

  test('a name that the issuer does not know is not looked for again for a while', async () => {
    const keys = await follow();
    const fresh = newRsaKey('late');
    const token = idToken(fresh, 'RS256', claimsOf());
    expect(await outcome(token, { keys })).toMatch(/signature/);
    issuer.keys = [fresh.jwk];
    expect(await outcome(token, { keys })).toMatch(/signature/);
    expect(issuer.asked()).toBe(2);
    now += UNKNOWN_MS;
    expect(await outcome(token, { keys })).toMatchObject({ name: '42' });
  });

  test('a name is looked for again if the issuer was out of reach', async () => {
    const keys = await follow();
    const fresh = newRsaKey('new');
    const token = idToken(fresh, 'RS256', claimsOf());
    issuer.isBroken = true;
    expect(await outcome(token, { keys })).toMatch(/signature/);
    issuer.isBroken = false;
    issuer.keys = [fresh.jwk];
    expect(await outcome(token, { keys })).toMatchObject({ name: '42' });
  });

  test('a key that is new is looked for also after the clock was set back', async () => {
    issuer.keys = [];
    const keys = await follow();
    issuer.keys = [rsa.jwk];
    now -= 60_000;
    await keys.refresh();
    expect(keys.has(rsa.keyId)).toBe(true);
  });

  test('a key that is withdrawn is not trusted for long, even for a token that was good before', async () => {
    const keys = await follow();
    const token = idToken(rsa, 'RS256', claimsOf({ exp: now / 1000 + 86_400 }));
    expect(await outcome(token, { keys })).toMatchObject({ name: '42' });
    issuer.keys = [newRsaKey('new').jwk];
    now += 3_600_000;
    await outcome(token, { keys });
    await keys.refresh();
    expect(await outcome(token, { keys })).toMatch(/signature/);
  });

  test('an issuer that fails leaves the keys as they are', async () => {
    const keys = await follow();
    issuer.isBroken = true;
    now += 3_600_000;
    await keys.refresh();
    expect(logged.at(-1)).toMatch(/the server answered 500/);
    expect(await outcome(idToken(rsa, 'RS256', claimsOf()), { keys })).toMatchObject({ name: '42' });
  });

  test('as long as there are none, its tokens are refused and others are not', async () => {
    issuer.isBroken = true;
    const keys = await follow();
    expect(await outcome(idToken(rsa, 'RS256', claimsOf()), { keys })).toMatch(/have not been fetched yet/);
    expect(await outcome('opaque', { keys })).toBeUndefined();
  });

  test('a document of another issuer is not believed', async () => {
    issuer.claimedIssuer = 'https://other';
    expect((await follow()).tokens()).toBeUndefined();
    expect(logged.at(-1)).toMatch(/the discovery document has another issuer: "https:\/\/other"/);
  });

  test('the certificate of the issuer counts', async () => {
    const fetchJson = createFetchJson(() => undefined);
    await expect(fetchJson(`${issuer.url}/keys?v=1`, shutdown.signal)).rejects.toThrow(/certificate/);
    await expect(createFetchJson(() => undefined)('http://127.0.0.1/x', shutdown.signal)).rejects.toThrow(
      /not an https address/,
    );
  });
});
