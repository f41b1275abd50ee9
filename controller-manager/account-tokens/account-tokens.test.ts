import type { Secret, ServiceAccount } from '../../shared/api/types/core-v1';
import { newKeyPem } from '../../shared/certs/testing/new-key-pem';
import { ACCOUNT_TOKEN, ANNOTATION, SECRET_TYPE } from '../../shared/names';
import { isSignedByOneOf, parseToken } from '../../shared/tokens/json-web-token';
import { signingKeyOf } from '../../shared/tokens/token-key';
import type { RoleBench } from '../testing/role-bench';
import { createRoleBench } from '../testing/role-bench';
import { runAccountTokens } from './account-tokens';

const ACCOUNTS = '/api/v1/namespaces/default/serviceaccounts';
const SECRETS = '/api/v1/namespaces/default/secrets';
const KEY = signingKeyOf(newKeyPem().privateKey);
const ROOT_CA = 'the certificate';

const base64 = (text: string): string => Buffer.from(text).toString('base64');

let bench: RoleBench;

beforeEach(async () => {
  bench = await createRoleBench();
});
afterEach(async () => {
  await bench.close();
});

function start(): void {
  bench.run(runAccountTokens, undefined, { tokenKey: KEY, rootCa: ROOT_CA });
}

async function account(name = 'robot'): Promise<Pick<ServiceAccount, 'metadata'>> {
  return bench.call('POST', ACCOUNTS, { metadata: { name } });
}

/** Resolves with the name of the account's only listed Secret. */
async function listed(name = 'robot', isOld: (name: string) => boolean = () => false): Promise<string> {
  const found = await bench.when<ServiceAccount>(ACCOUNTS, name, (object) => {
    const [first] = object?.secrets ?? [];
    return first?.name !== undefined && !isOld(first.name);
  });
  const { secrets = [] } = found ?? {};
  expect(secrets).toHaveLength(1);
  return secrets[0]?.name ?? '';
}

async function ask(name: string, uid?: string): Promise<object> {
  return bench.call('POST', SECRETS, {
    metadata: {
      name,
      annotations: {
        [ANNOTATION.serviceAccountName]: 'robot',
        ...(uid === undefined ? {} : { [ANNOTATION.serviceAccountUid]: uid }),
      },
    },
    type: SECRET_TYPE.serviceAccountToken,
  });
}

const isFilled = (secret: Secret | undefined): boolean => (secret?.data?.['token'] ?? '') !== '';

test('an account lists one Secret, which holds its token, its namespace and the certificate', async () => {
  start();
  const { metadata } = await account();
  const name = await listed();
  expect(name).toMatch(/^robot-token-[a-z0-9]{5}$/);
  const secret = await bench.when<Secret>(SECRETS, name, isFilled);
  expect(secret).toMatchObject({
    type: SECRET_TYPE.serviceAccountToken,
    metadata: {
      annotations: {
        [ANNOTATION.serviceAccountName]: 'robot',
        [ANNOTATION.serviceAccountUid]: metadata.uid,
      },
    },
    data: { 'ca.crt': base64(ROOT_CA), namespace: base64('default') },
  });
  const token = parseToken(Buffer.from(secret?.data?.['token'] ?? '', 'base64').toString());
  if (token === undefined) throw new Error('it is no token');
  expect(await isSignedByOneOf(token, [KEY])).toBe(true);
  expect(token.claims).toMatchObject({
    iss: ACCOUNT_TOKEN.legacyIssuer,
    sub: 'system:serviceaccount:default:robot',
    [ACCOUNT_TOKEN.legacyNamespace]: 'default',
    [ACCOUNT_TOKEN.legacySecretName]: name,
    [ACCOUNT_TOKEN.legacyAccountName]: 'robot',
    [ACCOUNT_TOKEN.legacyAccountUid]: metadata.uid,
  });
});

test('many accounts at once get one Secret each', async () => {
  const names = Array.from({ length: 20 }, (_, index) => `robot-${String(index)}`);
  await Promise.all(names.slice(0, 10).map(account));
  start();
  await Promise.all(names.slice(10).map(account));
  for (const name of names) await listed(name);
  const { items } = (await bench.call('GET', SECRETS)) as unknown as { items: Secret[] };
  expect(new Set(items.map(({ metadata }) => metadata.annotations?.[ANNOTATION.serviceAccountName]))).toEqual(
    new Set(names),
  );
  expect(items).toHaveLength(names.length);
});

test('a Secret created by a client is filled, and filled again when its token is emptied or its certificate changes', async () => {
  start();
  await account();
  await listed();
  await ask('mine');
  const secret = await bench.when<Secret>(SECRETS, 'mine', isFilled);
  expect((await listed()) === 'mine').toBe(false);
  for (const data of [
    {},
    { ...secret?.data, 'ca.crt': base64('another') },
    { ...secret?.data, namespace: '' },
  ]) {
    await bench.call('PUT', `${SECRETS}/mine`, {
      ...secret,
      metadata: { ...secret?.metadata, resourceVersion: '' },
      data,
    });
    const again = await bench.when<Secret>(
      SECRETS,
      'mine',
      (object) =>
        isFilled(object) && object?.data?.['ca.crt'] === base64(ROOT_CA) && object.data['namespace'] !== '',
    );
    expect(again?.data).toMatchObject({ 'ca.crt': base64(ROOT_CA), namespace: base64('default') });
  }
});

test('a deleted Secret is removed from the account, and a new one replaces it', async () => {
  start();
  await account();
  const first = await listed();
  await bench.call('DELETE', `${SECRETS}/${first}`);
  const second = await listed('robot', (name) => name === first);
  expect(await bench.when<Secret>(SECRETS, second, isFilled)).toMatchObject({ metadata: { name: second } });
});

test('all Secrets of a deleted or missing account are deleted', async () => {
  start();
  const { metadata } = await account();
  const own = await listed();
  await ask('mine', metadata.uid);
  await bench.when<Secret>(SECRETS, 'mine', isFilled);
  await bench.call('DELETE', `${ACCOUNTS}/robot`);
  for (const name of [own, 'mine']) {
    expect(await bench.when(SECRETS, name, (object) => object === undefined)).toBeUndefined();
  }
  await ask('lost');
  expect(await bench.when(SECRETS, 'lost', (object) => object === undefined)).toBeUndefined();
});

test('a Secret of an account that was recreated with a new uid is deleted', async () => {
  const { metadata } = await account();
  await ask('old', metadata.uid);
  await bench.call('DELETE', `${ACCOUNTS}/robot`);
  await account();
  start();
  expect(await bench.when(SECRETS, 'old', (object) => object === undefined)).toBeUndefined();
  await listed();
});

test('without a signing key the controller does nothing', async () => {
  const warned: string[] = [];
  const { log } = { log: { warn: (_fields: object, text: string) => warned.push(text) } };
  const context = { log, options: {} } as unknown as Parameters<typeof runAccountTokens>[0];
  await runAccountTokens(context, new AbortController().signal);
  expect(warned).toEqual(['tokens of service accounts are not kept in Secrets, as there is no private key']);
});

test('a Secret that names no possible account is deleted, like one of an account that does not exist', async () => {
  start();
  for (const [name = '', named] of [
    ['up', '../kube-system/default'],
    ['absent', 'missing'],
  ]) {
    await bench.call('POST', SECRETS, {
      metadata: { name, annotations: { [ANNOTATION.serviceAccountName]: named } },
      type: SECRET_TYPE.serviceAccountToken,
    });
    expect(await bench.when<Secret>(SECRETS, name, (secret) => secret === undefined)).toBeUndefined();
  }
});
