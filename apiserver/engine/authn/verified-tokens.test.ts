import { generateKeyPairSync, sign } from 'node:crypto';
import { signToken } from '../../../shared/tokens/json-web-token';
import { newKeyPem } from '../../../shared/certs/testing/new-key-pem';
import type { SigningKey, TokenKey } from '../../../shared/tokens/token-key';
import { signingKeyOf } from '../../../shared/tokens/token-key';
import { VerifiedTokens } from './verified-tokens';

const key = signingKeyOf(newKeyPem().privateKey);

test('what is remembered is bounded, and wrong tokens do not push out right ones', async () => {
  const tokens = new VerifiedTokens({ issuer: 'i', keys: [key], tokensMax: 3 });
  const all = await Promise.all(Array.from({ length: 8 }, async (_, n) => signToken(key, { iss: 'i', n })));
  for (const token of all) expect(await tokens.verify(token)).toMatchObject({ is: 'verified' });
  expect(tokens.size).toBe(3);
  for (const token of all) {
    const forged = `${token.slice(0, -10)}AAAAAAAAAA`;
    expect(await tokens.verify(forged)).toEqual({ is: 'forged' });
  }
  expect(tokens.size).toBe(3);
});

test('a token that is very long is verified and not remembered, and one that is longer still not looked at', async () => {
  const tokens = new VerifiedTokens({ issuer: 'i', keys: [key], tokensMax: 3 });
  const long = await signToken(key, { iss: 'i', text: 'x'.repeat(8_000) });
  expect(await tokens.verify(long)).toMatchObject({ is: 'verified' });
  expect(tokens.size).toBe(0);
  const longer = await signToken(key, { iss: 'i', text: 'x'.repeat(60_000) });
  expect(await tokens.verify(longer)).toEqual({ is: 'foreign' });
});

test('a token that is remembered is not verified again, and one that only begins like it is', async () => {
  const keys = [key];
  const tokens = new VerifiedTokens({ issuer: 'i', keys, tokensMax: 3 });
  const token = await signToken(key, { iss: 'i' });
  expect(await tokens.verify(token)).toMatchObject({ is: 'verified' });
  keys.length = 0;
  expect(await tokens.verify(token)).toMatchObject({ is: 'verified' });
  expect(await tokens.verify(`${token}AAAA`)).toEqual({ is: 'forged' });
});

test.each([
  ['{"iss":"i","sub":"a"}', 'verified'],
  ['{"iss":"i","sub":"a","sub":"b"}', 'forged'],
  ['{"iss":"i","iss":"i"}', 'forged'],
  ['{"iss":"i","orch":{"namespace":"a","namespace":"b"}}', 'forged'],
  ['{"iss":"i","iss":"other"}', 'foreign'],
])('claims %s are %s, however well they are signed', async (claims, is) => {
  const part = (json: string): string => Buffer.from(json).toString('base64url');
  const signed = `${part(JSON.stringify({ alg: key.algorithm, kid: key.keyId }))}.${part(claims)}`;
  const signature = sign('sha256', Buffer.from(signed), { key: key.privateKey, dsaEncoding: 'ieee-p1363' });
  const tokens = new VerifiedTokens({ issuer: 'i', keys: [key], tokensMax: 3 });
  expect(await tokens.verify(`${signed}.${signature.toString('base64url')}`)).toMatchObject({ is });
});

describe('signatures are checked', () => {
  let checks = 0;
  /** A key whose every use is counted. */
  const counted = (made: TokenKey): TokenKey => ({
    ...made,
    get publicKey() {
      checks += 1;
      return made.publicKey;
    },
  });
  const { privateKey: rsaPem } = generateKeyPairSync('rsa', {
    modulusLength: 2_048,
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  });
  const ours = [key, signingKeyOf(newKeyPem().privateKey), signingKeyOf(rsaPem)];
  const strangerOf = (namedCurve: string): SigningKey =>
    signingKeyOf(
      generateKeyPairSync('ec', {
        namedCurve,
        privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
        publicKeyEncoding: { type: 'spki', format: 'pem' },
      }).privateKey,
    );
  const stranger = strangerOf('P-256');

  test.each<[string, SigningKey, string, number]>([
    ['once for each key of its algorithm, if it is made up', stranger, 'i', 2],
    ['as often, if it names a key of ours', { ...stranger, keyId: key.keyId }, 'i', 2],
    ['never, if it is of another issuer', stranger, 'other', 0],
    ['never, if no local key has its id', { ...strangerOf('P-384'), keyId: key.keyId }, 'i', 0],
  ])('%s, and so the next time', async (_what, signer, issuer, expected) => {
    const tokens = new VerifiedTokens({ issuer: 'i', keys: ours.map(counted), tokensMax: 3 });
    const token = await signToken(signer, { iss: issuer });
    checks = 0;
    for (const times of [1, 2, 3]) {
      expect(await tokens.verify(token)).not.toMatchObject({ is: 'verified' });
      expect(checks).toBe(times * expected);
    }
  });

  test('once for a good token that names its key, and no more', async () => {
    const tokens = new VerifiedTokens({ issuer: 'i', keys: ours.map(counted), tokensMax: 3 });
    const token = await signToken(ours[1] ?? key, { iss: 'i' });
    checks = 0;
    for (let times = 0; times < 3; times += 1)
      expect(await tokens.verify(token)).toMatchObject({ is: 'verified' });
    expect(checks).toBe(1);
  });
});
