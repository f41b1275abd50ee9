import type { JsonWebKey } from 'node:crypto';
import { createPublicKey, verify } from 'node:crypto';
import { parseToken, signToken } from '../../../shared/tokens/json-web-token';
import { newKeyPem } from '../../../shared/certs/testing/new-key-pem';
import { signingKeyOf } from '../../../shared/tokens/token-key';
import type { Answer } from '../../engine/request/exchange';
import { newExchange } from '../../engine/request/testing/new-exchange';
import { issuerDocuments, issuerProblem } from './issuer-documents';

const elliptic = signingKeyOf(newKeyPem().privateKey);
const rsa = signingKeyOf(newKeyPem('rsa').privateKey);

const CONFIGURATION = '/.well-known/openid-configuration';
const KEYS = '/openid/v1/jwks';

function documents(keysUrl?: string) {
  return issuerDocuments({
    issuer: 'https://issuer.example',
    keysUrl,
    keys: [rsa, elliptic],
    serverAddress: () => 'api.example:6443',
  });
}

function read(path: string, keysUrl?: string): { readonly answer: Answer; readonly json: unknown } {
  const answer = documents(keysUrl).answer(newExchange({ path }));
  if (answer === undefined || !Buffer.isBuffer(answer.body)) throw new Error('no document');
  return { answer, json: JSON.parse(answer.body.toString('utf8')) };
}

test('the configuration tells where the keys are, and others may remember it', () => {
  const { answer, json } = read(CONFIGURATION);
  expect(answer.headers).toEqual({
    'Content-Type': 'application/json',
    'Cache-Control': 'public, max-age=3600',
  });
  expect(json).toEqual({
    issuer: 'https://issuer.example',
    jwks_uri: 'https://api.example:6443/openid/v1/jwks',
    response_types_supported: ['id_token'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['ES256', 'RS256'],
  });
  expect(read(CONFIGURATION, 'https://elsewhere/keys').json).toMatchObject({
    jwks_uri: 'https://elsewhere/keys',
  });
});

test('the keys verify tokens, and nothing of the private ones is told', async () => {
  const { answer, json } = read(KEYS);
  expect(answer.headers['Content-Type']).toBe('application/jwk-set+json');
  const { keys } = json as { readonly keys: readonly (JsonWebKey & { kid: string })[] };
  expect(keys.map((key) => Object.keys(key).toSorted())).toEqual([
    ['alg', 'e', 'kid', 'kty', 'n', 'use'],
    ['alg', 'crv', 'kid', 'kty', 'use', 'x', 'y'],
  ]);
  const token = parseToken(await signToken(elliptic, { iss: 'i' }));
  const found = keys.find(({ kid }) => kid === token?.keyId);
  if (token === undefined || found === undefined) throw new Error('no key');
  const key = createPublicKey({ key: found, format: 'jwk' });
  const data = Buffer.from(token.signed);
  expect(verify('sha256', data, { key, dsaEncoding: 'ieee-p1363' }, token.signature)).toBe(true);
});

test.each([
  [KEYS, 'application/jwk-set+json'],
  [KEYS, '*/*'],
  [CONFIGURATION, 'application/json'],
])('%s is written for who accepts %s', (path, accept) => {
  expect(documents().answer(newExchange({ path, headers: { accept } }))?.code).toBe(200);
});

test.each([
  [KEYS, 'application/json'],
  [KEYS, 'text/plain'],
  [CONFIGURATION, 'application/yaml'],
])('%s is not written for who accepts %s', (path, accept) => {
  expect(() => documents().answer(newExchange({ path, headers: { accept } }))).toThrow('406: Not Acceptable');
});

test('other paths are others', () => {
  expect(documents().answer(newExchange({ path: '/openid/v1/jwks/x' }))).toBeUndefined();
  expect(() => documents().answer(newExchange({ path: KEYS, method: 'POST' }))).toThrow(/does not allow/);
});

test.each([
  ['https://issuer.example/a', undefined],
  ['http://issuer.example', 'the issuer is no https URL'],
  ['api', 'the issuer is no https URL'],
  ['https://issuer.example?a', 'the issuer has a query or a fragment'],
  ['https://issuer.example#', 'the issuer has a query or a fragment'],
])('an issuer %s has documents unless: %s', (issuer, problem) => {
  expect(issuerProblem(issuer)).toBe(problem);
});
