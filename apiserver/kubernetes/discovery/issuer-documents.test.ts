import type { JsonWebKey } from 'node:crypto';
import { createPublicKey, verify } from 'node:crypto';
import { parseToken, signToken } from '../../../shared/tokens/json-web-token';
import { newKeyPem } from '../../../shared/certs/testing/new-key-pem';
import { signingKeyOf } from '../../../shared/tokens/token-key';
import type { Answer } from '../../engine/request/exchange';
import { newExchange } from '../../engine/request/testing/new-exchange';
import { getPage } from '../../engine/server/testing/get-page';
import { silentLog } from '../../../shared/log/log';
import { createIssuerRouter, issuerPages } from './issuer-documents';

const elliptic = signingKeyOf(newKeyPem().privateKey);
const rsa = signingKeyOf(newKeyPem('rsa').privateKey);

const CONFIGURATION = '/.well-known/openid-configuration';
const KEYS = '/openid/v1/jwks';

function documents(keysUrl?: string) {
  return createIssuerRouter({
    issuer: 'https://issuer.example',
    keysUrl,
    keys: [rsa, elliptic],
    serverAddress: () => 'api.example:6443',
  });
}

async function read(
  path: string,
  keysUrl?: string,
): Promise<{ readonly answer: Answer; readonly json: unknown }> {
  const answer = await getPage(documents(keysUrl), newExchange({ path }));
  if (answer === undefined || !Buffer.isBuffer(answer.body)) throw new Error('no document');
  return { answer, json: JSON.parse(answer.body.toString('utf8')) };
}

test('the configuration has the URL of the keys, and clients may cache it', async () => {
  const { answer, json } = await read(CONFIGURATION);
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
  expect((await read(CONFIGURATION, 'https://other.example/keys')).json).toMatchObject({
    jwks_uri: 'https://other.example/keys',
  });
});

test('the public keys verify tokens, and no private member is published', async () => {
  const { answer, json } = await read(KEYS);
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
])('%s with Accept %s answers 200', async (path, accept) => {
  const answer = await getPage(documents(), newExchange({ path, headers: { accept } }));
  expect(answer?.code).toBe(200);
});

test.each([
  [KEYS, 'application/json'],
  [KEYS, 'text/plain'],
  [CONFIGURATION, 'application/yaml'],
])('%s with Accept %s answers 406', async (path, accept) => {
  const answer = getPage(documents(), newExchange({ path, headers: { accept } }));
  await expect(answer).rejects.toThrow('406: Not Acceptable');
});

test('a path below a document has no route, and a document can only be read', async () => {
  expect(await getPage(documents(), newExchange({ path: `${KEYS}/x` }))).toBeUndefined();
  const answer = getPage(documents(), newExchange({ path: KEYS, method: 'POST' }));
  await expect(answer).rejects.toThrow(/does not allow/);
});

test.each([
  ['https://issuer.example/a', undefined],
  ['http://issuer.example', 'the issuer is no https URL'],
  ['api', 'the issuer is no https URL'],
  ['https://issuer.example?a', 'the issuer has a query or a fragment'],
  ['https://issuer.example#', 'the issuer has a query or a fragment'],
])('issuer %s has documents, or the log has the reason: %s', (issuer, problem) => {
  const lines: object[] = [];
  const log = { ...silentLog, info: (fields: object) => void lines.push(fields) };
  const parts = { keys: [rsa], serverAddress: () => 'api.example:6443', log };
  expect(issuerPages({ issuer, keysUrl: undefined }, parts)).toHaveLength(problem === undefined ? 1 : 0);
  expect(lines).toEqual(problem === undefined ? [] : [{ issuer, reason: problem }]);
});
