import { parseToken } from '../../../../shared/tokens/json-web-token';
import { ACCOUNT_TOKEN, GROUP, MEDIA_TYPE } from '../../../../shared/names';
import type { InProcessApi } from '../../../testing/in-process-api';
import { startInProcessApi, TOKEN_KEY } from '../../../testing/in-process-api';
import type { AccountTokens } from '../../../engine/registry/operation';

const CORE = '/api/v1/namespaces/default';
const TOKEN = `${CORE}/serviceaccounts/robot/token`;
const API_AUDIENCES = ['https://api.example', 'api'];

let api: InProcessApi;
let accountUid = '';

async function start(issuing: Partial<AccountTokens> = {}): Promise<void> {
  api = await startInProcessApi(undefined, {
    services: {
      apiAudiences: API_AUDIENCES,
      accountTokens: {
        sign: async (said) => Promise.resolve(JSON.stringify(said)),
        issuer: 'https://issuer.example',
        maxExpirationSeconds: undefined,
        extendsExpiration: true,
        ...issuing,
      },
    },
  });
  const { json } = await api.call('POST', `${CORE}/serviceaccounts`, {
    body: { metadata: { name: 'robot' } },
  });
  accountUid = json.metadata.uid;
}

afterEach(async () => {
  await api.close();
});

async function ask(spec: object, more: object = {}): ReturnType<InProcessApi['call']> {
  return api.call('POST', TOKEN, { body: { spec, ...more } });
}

/** The claims of the token in an answer; the signer of these tests signs nothing. */
async function claims(spec: object): Promise<Record<string, unknown>> {
  const { json } = await ask(spec);
  return JSON.parse(json.status.token) as Record<string, unknown>;
}

async function makePod(name: string, serviceAccountName: string): Promise<string> {
  const body = { metadata: { name }, spec: { serviceAccountName, containers: [{ name: 'c', image: 'i' }] } };
  return (await api.call('POST', `${CORE}/pods`, { body })).json.metadata.uid;
}

describe('a token', () => {
  beforeEach(async () => start());

  test('defaults to the audience of the API and to one hour, and names its account', async () => {
    const before = Math.floor(Date.now() / 1_000);
    const { code, json } = await ask({});
    expect(code).toBe(201);
    expect(json).toMatchObject({
      kind: 'TokenRequest',
      apiVersion: `${GROUP.authentication}/v1`,
      metadata: { creationTimestamp: null },
      spec: { audiences: API_AUDIENCES, expirationSeconds: 3600, boundObjectRef: null },
    });
    expect(Object.keys(json.metadata)).not.toContain('namespace');
    const asked = await ask({}, { metadata: { namespace: 'default', name: 'robot' } });
    expect([asked.code, asked.json.metadata.namespace]).toEqual([201, 'default']);
    expect((await ask({}, { metadata: { namespace: 'other' } })).code).toBe(400);
    expect((await ask({}, { metadata: { uid: 'other' } })).code).toBe(409);
    expect((await ask({}, { metadata: { name: 'other' } })).json.details.causes).toEqual([
      {
        reason: 'FieldValueInvalid',
        field: 'metadata.name',
        message: 'Invalid value: "other": must match the service account name if specified',
      },
    ]);
    const { iat, exp, nbf, ...said } = JSON.parse(json.status.token);
    expect(said).toEqual({
      aud: API_AUDIENCES,
      iss: 'https://issuer.example',
      sub: 'system:serviceaccount:default:robot',
      [ACCOUNT_TOKEN.claim]: {
        namespace: 'default',
        serviceaccount: { name: 'robot', uid: accountUid },
      },
    });
    expect([nbf, exp - iat]).toEqual([iat, 3600]);
    expect(iat).toBeGreaterThanOrEqual(before);
    expect(Date.parse(json.status.expirationTimestamp)).toBe(exp * 1_000);
  });

  test('has the requested audiences and lifetime', async () => {
    const { json } = await ask({ audiences: ['b', 'a'], expirationSeconds: 600 });
    expect(json.spec).toEqual({ audiences: ['b', 'a'], expirationSeconds: 600, boundObjectRef: null });
    const { aud, iat, exp } = JSON.parse(json.status.token);
    expect([aud, exp - iat]).toEqual([['b', 'a'], 600]);
  });

  test.each([
    [599, 'less than 10 minutes'],
    [-1, 'less than 10 minutes'],
    [2 ** 32 + 1, 'larger than 2^32 seconds'],
  ])('for %d seconds is refused', async (expirationSeconds, why) => {
    const { code, json } = await ask({ expirationSeconds });
    expect(code).toBe(422);
    expect(json.details).toEqual({
      group: GROUP.authentication,
      kind: 'TokenRequest',
      causes: [
        {
          reason: 'FieldValueInvalid',
          field: 'spec.expirationSeconds',
          message: expect.stringContaining(why) as string,
        },
      ],
    });
  });

  test('is returned in Protobuf to a Protobuf client', async () => {
    const { headers, code, text } = await api.call('POST', TOKEN, {
      body: { spec: {} },
      headers: { accept: MEDIA_TYPE.protobuf },
    });
    expect([code, headers['Content-Type']]).toEqual([201, MEDIA_TYPE.protobuf]);
    expect(text).toContain('TokenRequest');
    expect(text).toContain('system:serviceaccount:default:robot');
  });

  test('needs its account', async () => {
    const { code, json } = await api.call('POST', `${CORE}/serviceaccounts/missing/token`, {
      body: { spec: {} },
    });
    expect([code, json.details]).toEqual([404, { name: 'missing', kind: 'serviceaccounts' }]);
  });

  test('is written in the status by the server alone, and kept nowhere', async () => {
    const { json } = await ask({}, { status: { token: 'mine', expirationTimestamp: null } });
    expect(json.status.token).not.toBe('mine');
    const account = await api.call('GET', `${CORE}/serviceaccounts/robot`);
    expect(account.json.metadata.uid).toBe(accountUid);
    expect((await api.call('GET', TOKEN)).code).toBe(405);
  });

  test('is in discovery with the group and version of its kind', async () => {
    const { json } = await api.call('GET', '/api/v1');
    const rows: readonly { readonly name: string }[] = json.resources;
    expect(rows.find(({ name }) => name === 'serviceaccounts/token')).toEqual({
      name: 'serviceaccounts/token',
      singularName: '',
      namespaced: true,
      group: GROUP.authentication,
      version: 'v1',
      kind: 'TokenRequest',
      verbs: ['create'],
    });
  });
});

describe('a bound token', () => {
  beforeEach(async () => start());

  test('names the pod or the secret, with the uid it has now', async () => {
    const podUid = await makePod('p', 'robot');
    const secret = await api.call('POST', `${CORE}/secrets`, { body: { metadata: { name: 's' } } });
    const { uid } = secret.json.metadata;
    const ofPod = await claims({ boundObjectRef: { kind: 'Pod', apiVersion: 'v1', name: 'p', uid: podUid } });
    expect(ofPod[ACCOUNT_TOKEN.claim]).toMatchObject({ pod: { name: 'p', uid: podUid } });
    const ofSecret = await claims({ boundObjectRef: { kind: 'Secret', apiVersion: 'v1', name: 's' } });
    expect(ofSecret[ACCOUNT_TOKEN.claim]).toMatchObject({ secret: { name: 's', uid } });
  });

  test.each([
    [{ kind: 'Pod', apiVersion: 'v1', name: 'none' }, 404, 'pods "none" not found'],
    [{ kind: 'Secret', apiVersion: 'v1', name: 'none' }, 404, 'secrets "none" not found'],
    [{ kind: 'Pod', apiVersion: 'v1' }, 400, 'Name parameter required.'],
    [{ kind: 'Pod', apiVersion: 'v1', name: '../other/p' }, 404, 'pods "../other/p" not found'],
    [
      { kind: 'ConfigMap', apiVersion: 'v1', name: 'x' },
      400,
      'cannot bind token to object of type /v1, Kind=ConfigMap',
    ],
    [
      { kind: 'Pod', apiVersion: 'apps/v1', name: 'x' },
      400,
      'cannot bind token to object of type apps/v1, Kind=Pod',
    ],
    [{ kind: 'Pod', apiVersion: 'a/b/c', name: 'x' }, 400, 'cannot bind token to object of type /, Kind=Pod'],
    [
      { kind: 'Pod', apiVersion: 'v1', name: 'theirs' },
      400,
      'cannot bind token for serviceaccount "robot" to pod running with different serviceaccount name.',
    ],
    [
      { kind: 'Pod', apiVersion: 'v1', name: 'ours', uid: 'another' },
      409,
      'Operation cannot be fulfilled on Pod "ours": the UID in the bound object reference (another) does not match the UID in record. The object might have been deleted and then recreated',
    ],
  ])('to %j is refused with %d', async (boundObjectRef, code, message) => {
    await makePod('ours', 'robot');
    await makePod('theirs', 'somebody');
    const reply = await ask({ boundObjectRef });
    expect([reply.code, reply.json.message]).toEqual([code, message]);
  });
});

describe('the token that pods get by themselves', () => {
  const bound = { boundObjectRef: { kind: 'Pod', apiVersion: 'v1', name: 'p' }, expirationSeconds: 3607 };

  test('is good for a year, and says when it should have been renewed', async () => {
    await start();
    await makePod('p', 'robot');
    const { json } = await ask(bound);
    const { iat, exp, [ACCOUNT_TOKEN.claim]: own } = JSON.parse(json.status.token);
    expect(exp - iat).toBe(365 * 24 * 3_600);
    expect(own.warnafter - iat).toBe(3607);
    expect(Date.parse(json.status.expirationTimestamp)).toBe((iat + 3607) * 1_000);
  });

  test.each([
    ['for another time', { expirationSeconds: 3600 }, 3600],
    ['for others than the API', { audiences: ['api', 'x'] }, 3607],
    ['without a pod', { boundObjectRef: null }, 3607],
    ['for a Secret', { boundObjectRef: { kind: 'Secret', apiVersion: 'v1', name: 's' } }, 3607],
  ])('%s has the requested lifetime', async (_what, change, seconds) => {
    await start();
    await makePod('p', 'robot');
    await api.call('POST', `${CORE}/secrets`, { body: { metadata: { name: 's' } } });
    const { iat, exp, [ACCOUNT_TOKEN.claim]: own } = await claims({ ...bound, ...change });
    expect(Number(exp) - Number(iat)).toBe(seconds);
    expect(own).not.toHaveProperty('warnafter');
  });

  test('has the requested lifetime when extended tokens are switched off', async () => {
    await start({ extendsExpiration: false });
    await makePod('p', 'robot');
    const { iat, exp } = await claims(bound);
    expect(Number(exp) - Number(iat)).toBe(3607);
  });
});

test('no token is good for longer than the server lets it be', async () => {
  await start({ maxExpirationSeconds: 7_200 });
  const { json } = await ask({ expirationSeconds: 10_000 });
  expect(json.spec.expirationSeconds).toBe(7_200);
  const { iat, exp } = JSON.parse(json.status.token);
  expect(exp - iat).toBe(7_200);
});

test('tokens are signed with the key of the server', async () => {
  api = await startInProcessApi();
  await api.call('POST', `${CORE}/serviceaccounts`, { body: { metadata: { name: 'robot' } } });
  const { json } = await ask({});
  expect(parseToken(json.status.token)).toMatchObject({ algorithm: 'ES256', keyId: TOKEN_KEY.keyId });
});
