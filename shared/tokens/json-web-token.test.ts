import { createHmac, createPrivateKey, createPublicKey, generateKeyPairSync, sign } from 'node:crypto';
import { isSignedByOneOf, parseToken, signToken } from './json-web-token';
import { newKeyPem } from '../certs/testing/new-key-pem';
import type { SigningKey } from './token-key';
import { signingKeyOf, verificationKeysOf } from './token-key';

const rsa = newKeyPem('rsa');
const KEYS: readonly (readonly [algorithm: string, key: SigningKey])[] = [
  ['RS256', signingKeyOf(rsa.privateKey)],
  ['ES256', signingKeyOf(newKeyPem('P-256').privateKey)],
  ['ES384', signingKeyOf(newKeyPem('P-384').privateKey)],
  ['ES512', signingKeyOf(newKeyPem('P-521').privateKey)],
];
const [, rsaKey] = KEYS[0] ?? [];
const CLAIMS = { iss: 'https://issuer', aud: ['a'], text: 'ü' };

function parsed(token: string) {
  const result = parseToken(token);
  if (result === undefined) throw new Error('no token');
  return result;
}

function part(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

describe.each(KEYS)('%s', (algorithm, key) => {
  test('signs what it verifies, and says which key it was', async () => {
    const token = parsed(await signToken(key, CLAIMS));
    expect(token).toMatchObject({ algorithm, keyId: key.keyId, claims: CLAIMS });
    expect(await isSignedByOneOf(token, [key])).toBe(true);
  });

  test('finds its key among others, also when the token names another', async () => {
    const token = parsed(await signToken(key, CLAIMS));
    const all = KEYS.map(([, each]) => each).toReversed();
    expect(await isSignedByOneOf({ ...token, keyId: 'unknown' }, all)).toBe(true);
    expect(
      await isSignedByOneOf(
        token,
        all.filter((each) => each !== key),
      ),
    ).toBe(false);
  });

  test('does not verify other claims, another signature, or none', async () => {
    const [head = '', body = '', tail = ''] = (await signToken(key, CLAIMS)).split('.');
    const claims = part({ ...CLAIMS, aud: ['b'] });
    expect(await isSignedByOneOf(parsed(`${head}.${claims}.${tail}`), [key])).toBe(false);
    expect(await isSignedByOneOf(parsed(`${head}.${body}.`), [key])).toBe(false);
    const flipped = Buffer.from(tail, 'base64url').map((byte, index) => (index === 9 ? byte ^ 1 : byte));
    const forged = `${head}.${body}.${Buffer.from(flipped).toString('base64url')}`;
    expect(await isSignedByOneOf(parsed(forged), [key])).toBe(false);
    const longer = `${head}.${body}.${Buffer.concat([Buffer.from(tail, 'base64url'), Buffer.alloc(1)]).toString('base64url')}`;
    expect(await isSignedByOneOf(parsed(longer), [key])).toBe(false);
  });
});

test('a key verifies no other algorithm, even if the signature is right but for that', async () => {
  if (rsaKey === undefined) throw new Error('no key');
  const token = parsed(await signToken(rsaKey, CLAIMS));
  expect(await isSignedByOneOf({ ...token, algorithm: 'RS384' }, [rsaKey])).toBe(false);
  expect(await isSignedByOneOf({ ...token, algorithm: 'none' }, [rsaKey])).toBe(false);
});

test('a signature in another form, or of numbers no signature has, is wrong and no failure', async () => {
  const pem = newKeyPem('P-256');
  const key = signingKeyOf(pem.privateKey);
  const token = parsed(await signToken(key, CLAIMS));
  const asDer = sign('sha256', Buffer.from(token.signed), pem.privateKey);
  const bad = [asDer, Buffer.alloc(64), Buffer.alloc(64, 0xff), Buffer.alloc(1), Buffer.alloc(40_000)];
  for (const signature of bad) expect(await isSignedByOneOf({ ...token, signature }, [key])).toBe(false);
  expect(await isSignedByOneOf(token, [key])).toBe(true);
});

test('the token does not choose how it is verified', async () => {
  if (rsaKey === undefined) throw new Error('no key');
  const body = part(CLAIMS);
  const hmacHead = part({ alg: 'HS256' });
  const hmac = createHmac('sha256', rsa.publicKey).update(`${hmacHead}.${body}`).digest('base64url');
  expect(await isSignedByOneOf(parsed(`${hmacHead}.${body}.${hmac}`), [rsaKey])).toBe(false);
  expect(await isSignedByOneOf(parsed(`${part({ alg: 'none' })}.${body}.`), [rsaKey])).toBe(false);
});

test.each([
  ['nothing', ''],
  ['two parts', 'e30.e30'],
  ['four parts', 'e30.e30.e30.e30'],
  ['a header that is no JSON', `${Buffer.from('{').toString('base64url')}.e30.AA`],
  ['a header without an algorithm', 'e30.e30.AA'],
  ['claims that are a list', `${part({ alg: 'ES256' })}.W10.AA`],
  ['an extension that must be understood', `${part({ alg: 'ES256', crit: ['b64'] })}.e30.AA`],
  ['an extension that the library knows', `${part({ alg: 'ES256', crit: ['b64'], b64: true })}.e30.AA`],
  ['padding', `${part({ alg: 'ES256' })}.e30=.AA`],
  ['characters between those of the signature', `${part({ alg: 'ES256' })}.e30.A!A`],
  ['the alphabet with + and /', `${part({ alg: 'ES256' })}.e30.+/8`],
])('%s is no token', (_what, text) => {
  expect(parseToken(text)).toBeUndefined();
});

describe('keys', () => {
  test('a file may hold several, and a private key counts as its public one', () => {
    const other = newKeyPem();
    const text = `a comment\n${rsa.privateKey}\n${other.publicKey}`;
    const keys = verificationKeysOf(text);
    expect(keys.map(({ algorithm }) => algorithm)).toEqual(['RS256', 'ES256']);
    expect(keys[0]?.keyId).toBe(rsaKey?.keyId);
    expect(keys[0]?.publicKey.type).toBe('public');
  });

  test('the traditional forms are read too, and blocks of other kinds are passed over', () => {
    const privateKey = createPrivateKey(newKeyPem('P-384').privateKey)
      .export({ type: 'sec1', format: 'pem' })
      .toString();
    const parameters = '-----BEGIN EC PARAMETERS-----\nBgUrgQQAIg==\n-----END EC PARAMETERS-----\n';
    expect(signingKeyOf(parameters + privateKey).algorithm).toBe('ES384');
    expect(verificationKeysOf(parameters + privateKey)).toHaveLength(1);
    const publicKey = createPublicKey(rsa.publicKey).export({ type: 'pkcs1', format: 'pem' }).toString();
    expect(verificationKeysOf(publicKey)[0]?.algorithm).toBe('RS256');
  });

  test('what cannot sign tokens is refused with a reason that shows no key', () => {
    const edwards = newKeyPem('ed25519');
    const broken = rsa.privateKey.replace('MII', 'AAA');
    expect(() => signingKeyOf('')).toThrow('there is no private key in PEM form');
    expect(() => signingKeyOf(rsa.publicKey)).toThrow('there is no private key in PEM form');
    expect(() => verificationKeysOf('x')).toThrow('there is no public or private key in PEM form');
    expect(() => signingKeyOf(edwards.privateKey)).toThrow('not ed25519');
    expect(() => signingKeyOf(newKeyPem('secp256k1').privateKey)).toThrow('not secp256k1');
    expect(() => signingKeyOf(broken)).toThrow(/^a key cannot be parsed$/);
    const short = generateKeyPairSync('rsa', { modulusLength: 1_024 });
    const shortPem = short.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
    expect(() => signingKeyOf(shortPem)).toThrow('tokens need an RSA key of at least 2048 bits');
  });
});

test('a header with repeated members is no token; repeated claims are reported', async () => {
  if (rsaKey === undefined) throw new Error('no key');
  const [head = '', body = '', tail = ''] = (await signToken(rsaKey, CLAIMS)).split('.');
  const repeating = (text: string): string =>
    Buffer.from(Buffer.from(text, 'base64url').toString().replace('{', '{"x":1,"x":2,')).toString(
      'base64url',
    );
  expect(parseToken(`${repeating(head)}.${body}.${tail}`)).toBeUndefined();
  expect(parsed(`${head}.${body}.${tail}`).repeatsClaims).toBe(false);
  expect(parsed(`${head}.${repeating(body)}.${tail}`)).toMatchObject({
    repeatsClaims: true,
    claims: { x: 2 },
  });
});
