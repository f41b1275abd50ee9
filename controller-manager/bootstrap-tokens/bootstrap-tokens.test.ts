import { createHmac } from 'node:crypto';
import type { Secret } from '../../shared/api/types/core-v1';
import { formatTime } from '../../shared/meta/time';
import { NAMESPACE, SECRET_TYPE } from '../../shared/names';
import type { RoleBench } from '../testing/role-bench';
import { createRoleBench } from '../testing/role-bench';
import { runClusterInfoSigner } from './cluster-info-signer';
import { detachedSignature } from './detached-signature';
import { runTokenCleaner } from './token-cleaner';
import { expirationOf, signingToken } from './token-secret';

const SECRETS = `/api/v1/namespaces/${NAMESPACE.system}/secrets`;
const MAPS = `/api/v1/namespaces/${NAMESPACE.public}/configmaps`;
const CONTENT = 'apiVersion: v1\nkind: Config\nclusters: ["ü"]\n';
const SECRET = '0123456789abcdef';
const HOUR_MS = 3_600_000;

let bench: RoleBench;
beforeEach(async () => {
  bench = await createRoleBench();
});
afterEach(async () => bench.close());

const inMs = (ms: number): string => formatTime(Date.now() + ms);
const base64 = (text: string): string => Buffer.from(text).toString('base64');

function tokenSecret(
  id: string,
  more: Readonly<Record<string, string>> = {},
  name = `bootstrap-token-${id}`,
) {
  const values = { 'token-id': id, 'token-secret': SECRET, 'usage-bootstrap-signing': 'true', ...more };
  const data = Object.fromEntries(Object.entries(values).map(([key, value]) => [key, base64(value)]));
  return { metadata: { name }, type: SECRET_TYPE.bootstrapToken, data };
}

const makeToken = async (id: string, more?: Readonly<Record<string, string>>) =>
  bench.call('POST', SECRETS, tokenSecret(id, more));
const gone = async (id: string) => bench.when(SECRETS, `bootstrap-token-${id}`, (now) => now === undefined);

describe('token cleaner', () => {
  const run = (laterMs = 0): void =>
    bench.run(
      async (context, signal) => runTokenCleaner(context, signal, { now: () => Date.now() + laterMs }),
      'token-cleaner',
    );

  test('deletes tokens that have expired, and nothing else', async () => {
    await makeToken('aaaaaa', { expiration: inMs(HOUR_MS) });
    await makeToken('bbbbbb', { expiration: inMs(3 * HOUR_MS) });
    await makeToken('cccccc');
    await bench.call('POST', SECRETS, {
      metadata: { name: 'mine' },
      data: { expiration: base64(inMs(-HOUR_MS)) },
    });
    run(2 * HOUR_MS);
    await gone('aaaaaa');
    expect(bench.writes).toEqual([`DELETE ${SECRETS}/bootstrap-token-aaaaaa`]);
  });

  test('deletes a token when it expires', async () => {
    run();
    const expiration = inMs(2_000);
    await makeToken('aaaaaa', { expiration });
    await gone('aaaaaa');
    expect(Date.now()).toBeGreaterThanOrEqual(Date.parse(expiration));
  });

  test('uses the current expiration of a token', async () => {
    const object = await makeToken('aaaaaa', { expiration: inMs(HOUR_MS) });
    run();
    const { data } = tokenSecret('aaaaaa', { expiration: inMs(-HOUR_MS) });
    await bench.call('PUT', `${SECRETS}/bootstrap-token-aaaaaa`, { ...object, data });
    await gone('aaaaaa');
    expect(bench.writes).toHaveLength(1);
  });
});

test.each([
  ['no time', tokenSecret('aaaaaa'), Infinity],
  ['a time', tokenSecret('aaaaaa', { expiration: '2030-01-01T00:00:00Z' }), Date.UTC(2030, 0)],
  ['a time elsewhere', tokenSecret('aaaaaa', { expiration: '2030-01-01T01:00:00+01:00' }), Date.UTC(2030, 0)],
  ['something else', tokenSecret('aaaaaa', { expiration: 'tomorrow' }), -Infinity],
])('an expiration that is %s', (_what, secret, expected) => {
  expect(expirationOf(secret)).toBe(expected);
});

test.each<[what: string, secret: Secret, signs: boolean]>([
  ['as it must be', tokenSecret('aaaaaa'), true],
  ['of another name', tokenSecret('aaaaaa', {}, 'aaaaaa'), false],
  ['of another id than its name', tokenSecret('aaaaaa', {}, 'bootstrap-token-bbbbbb'), false],
  ['of an id that is too long', tokenSecret('aaaaaaa'), false],
  ['without a secret', tokenSecret('aaaaaa', { 'token-secret': '' }), false],
  ['without an id', tokenSecret('aaaaaa', { 'token-id': '' }), false],
  ['not for signing', tokenSecret('aaaaaa', { 'usage-bootstrap-signing': 'false' }), false],
  ['nearly for signing', tokenSecret('aaaaaa', { 'usage-bootstrap-signing': 'True' }), false],
  ['empty', { metadata: { name: 'bootstrap-token-aaaaaa' } }, false],
])('a token that is %s', (_what, secret, signs) => {
  expect(signingToken(secret)).toEqual(signs ? { id: 'aaaaaa', secret: SECRET } : undefined);
});

test('a signature is verified with the whole token once the text is put between its dots', () => {
  const signature = detachedSignature(CONTENT, { id: 'aaaaaa', secret: SECRET });
  const [header = '', nothing, tail] = signature.split('.');
  expect(nothing).toBe('');
  expect(JSON.parse(Buffer.from(header, 'base64url').toString())).toEqual({ alg: 'HS256', kid: 'aaaaaa' });
  const payload = Buffer.from(CONTENT).toString('base64url');
  const expected = createHmac('sha256', `aaaaaa.${SECRET}`).update(`${header}.${payload}`);
  expect(tail).toBe(expected.digest('base64url'));
});

test('in the Kubernetes dialect a signature is the one that kubeadm computes, of the second half of the token', () => {
  const content = 'Hello from the other side. I must have called a thousand times.';
  expect(detachedSignature(content, { id: 'joshua', secret: 'my voice is my passcode' }, 'secret')).toBe(
    'eyJhbGciOiJIUzI1NiIsImtpZCI6Impvc2h1YSJ9..VShe2taLd-YTrmWuRkcL_8QTNDHYxQIEBsAYYiIj1_8',
  );
});

describe('cluster-info signer', () => {
  type Data = Readonly<Record<string, string>>;
  const run = (laterMs = 0): void =>
    bench.run(
      async (context, signal) =>
        runClusterInfoSigner({ ...context, clock: { now: () => Date.now() + laterMs } }, signal),
      'bootstrap-signer',
    );
  const makeMap = async (data: Data, name = 'cluster-info') =>
    bench.call('POST', MAPS, { metadata: { name }, data });
  /** Resolves with the data of cluster-info once it satisfies the condition. */
  const dataWhen = async (holds: (data: Data) => boolean): Promise<Data> => {
    const map = await bench.when(MAPS, 'cluster-info', (now) => holds((now?.['data'] ?? {}) as Data));
    return (map?.['data'] ?? {}) as Data;
  };
  const signatureOf = (id: string, content = CONTENT): string =>
    detachedSignature(content, { id, secret: SECRET });
  const keysAre = (...ids: readonly string[]) => {
    const wanted = ids.map((id) => `jws-kubeconfig-${id}`).toSorted();
    return (data: Data): boolean =>
      JSON.stringify(
        Object.keys(data)
          .filter((key) => key.startsWith('jws-'))
          .toSorted(),
      ) === JSON.stringify(wanted);
  };

  test('signs the kubeconfig with every bootstrap token and follows changes of both', async () => {
    await makeMap({ kubeconfig: CONTENT, other: 'kept' });
    await makeToken('aaaaaa');
    run();
    expect(await dataWhen(keysAre('aaaaaa'))).toEqual({
      kubeconfig: CONTENT,
      other: 'kept',
      'jws-kubeconfig-aaaaaa': signatureOf('aaaaaa'),
    });
    await makeToken('bbbbbb');
    await dataWhen(keysAre('aaaaaa', 'bbbbbb'));
    await bench.call('PATCH', `${MAPS}/cluster-info`, { data: { kubeconfig: 'new' } });
    const data = await dataWhen((now) => now['jws-kubeconfig-bbbbbb'] === signatureOf('bbbbbb', 'new'));
    expect(data['jws-kubeconfig-aaaaaa']).toBe(signatureOf('aaaaaa', 'new'));
    await bench.call('DELETE', `${SECRETS}/bootstrap-token-aaaaaa`);
    expect(await dataWhen(keysAre('bbbbbb'))).toMatchObject({ kubeconfig: 'new' });
  });

  test('removes signatures without a token, and writes nothing when all signatures are current', async () => {
    await makeMap({ kubeconfig: CONTENT, 'jws-kubeconfig-zzzzzz': 'x..y' });
    await makeMap({ kubeconfig: CONTENT }, 'other');
    await makeToken('aaaaaa');
    run();
    await dataWhen(keysAre('aaaaaa'));
    const { data } = tokenSecret('aaaaaa', { description: 'changed' });
    await bench.call('PATCH', `${SECRETS}/bootstrap-token-aaaaaa`, { data });
    await makeToken('bbbbbb');
    await dataWhen(keysAre('aaaaaa', 'bbbbbb'));
    expect(bench.writes).toEqual([`PUT ${MAPS}/cluster-info`, `PUT ${MAPS}/cluster-info`]);
  });

  test('an expired token does not sign, and its signature is removed when it expires', async () => {
    await makeMap({ kubeconfig: CONTENT });
    await makeToken('aaaaaa', { expiration: inMs(HOUR_MS) });
    await makeToken('bbbbbb', { expiration: inMs(2 * HOUR_MS + 2_000) });
    await makeToken('cccccc', { expiration: inMs(9 * HOUR_MS) });
    run(2 * HOUR_MS);
    await dataWhen(keysAre('bbbbbb', 'cccccc'));
    expect(keysAre('cccccc')(await dataWhen(keysAre('cccccc')))).toBe(true);
    expect(bench.writes).toHaveLength(2);
  });

  test('without a kubeconfig there is nothing to sign', async () => {
    await makeMap({ 'jws-kubeconfig-zzzzzz': 'x..y' });
    await makeToken('aaaaaa');
    run();
    await bench.call('PATCH', `${MAPS}/cluster-info`, { data: { kubeconfig: CONTENT } });
    await dataWhen(keysAre('aaaaaa'));
    expect(bench.writes).toHaveLength(1);
  });
});
