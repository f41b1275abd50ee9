import { silentLog } from '../../../shared/log/log';
import type { ApiObject } from '../../../shared/object/object';
import { SECRET_TYPE } from '../../../shared/names';
import { bootstrapTokenLookup } from './bootstrap-tokens';

const SIGNAL = new AbortController().signal;
const TOKEN = 'abc123.0123456789abcdef';
const now = Date.UTC(2021, 4, 4, 12);

type Data = Readonly<Record<string, string | undefined>>;

function secretWith(data: Data = {}, parts: object = {}): ApiObject {
  const all: Data = {
    'token-id': 'abc123',
    'token-secret': '0123456789abcdef',
    'usage-bootstrap-authentication': 'true',
    ...data,
  };
  const encoded = Object.entries(all).flatMap(([key, value]) =>
    value === undefined ? [] : [[key, Buffer.from(value).toString('base64')]],
  );
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'bootstrap-token-abc123' },
    type: SECRET_TYPE.bootstrapToken,
    data: Object.fromEntries(encoded),
    ...parts,
  };
}

interface Asked {
  readonly token?: string;
  readonly cached?: ApiObject | undefined;
  readonly fresh?: ApiObject | undefined;
}

async function userOf({ token = TOKEN, cached, fresh = cached }: Asked) {
  const named = (object: ApiObject | undefined) => async (name: string) =>
    Promise.resolve(name === object?.metadata.name ? object : undefined);
  const lookUp = bootstrapTokenLookup({
    secrets: { cached: named(cached), fresh: named(fresh) },
    clock: { now: () => now },
    log: silentLog,
  });
  return (await lookUp(token, SIGNAL))?.user;
}

test('a token of a Secret makes its bearer known by the id', async () => {
  expect(await userOf({ cached: secretWith() })).toEqual({
    name: 'system:bootstrap:abc123',
    uid: '',
    groups: ['system:bootstrappers'],
    extra: {},
  });
});

test.each([
  ['the token of a Secret', TOKEN, ['cached']],
  ['a made-up token', 'abc123.aaaaaaaaaaaaaaaa', ['cached', 'fresh']],
  ['a token of no Secret', 'zzz999.0123456789abcdef', ['cached', 'fresh']],
  ['another kind of token', 'a.b.c', []],
])('the Secret of %s is read where it is needed, once each', async (_what, token, expected) => {
  const reads: string[] = [];
  const reading = (where: string) => async (name: string) => {
    reads.push(where);
    return Promise.resolve(name === 'bootstrap-token-abc123' ? secretWith() : undefined);
  };
  const secrets = { cached: reading('cached'), fresh: reading('fresh') };
  await bootstrapTokenLookup({ secrets, clock: { now: () => now }, log: silentLog })(token, SIGNAL);
  expect(reads).toEqual(expected);
});

describe('a watch with the token ends', () => {
  const later = '2100-01-01T00:00:00Z';
  const spoiled: readonly [what: string, object: () => ApiObject | undefined][] = [
    ['when its Secret is gone', () => undefined],
    ['when the Secret holds another', () => secretWith({ 'token-secret': '0123456789abcdeg' })],
    [
      'when it is no longer for authentication',
      () => secretWith({ 'usage-bootstrap-authentication': 'false' }),
    ],
    ['with its groups', () => secretWith({ 'auth-extra-groups': 'system:bootstrappers:a' })],
    ['with its time', () => secretWith({ expiration: '2000-01-01T00:00:00Z' })],
  ];

  test.each(spoiled)('%s', async (_what, spoil) => {
    let object: ApiObject | undefined = secretWith({ expiration: later });
    const read = async () => Promise.resolve(object);
    const lookUp = bootstrapTokenLookup({
      secrets: { cached: read, fresh: read },
      clock: { now: () => now },
      log: silentLog,
    });
    const ground = (await lookUp(TOKEN, SIGNAL))?.ground?.();
    expect(await ground?.refusal(SIGNAL)).toBeUndefined();
    object = spoil();
    expect(await ground?.refusal(SIGNAL)).toMatchObject({ status: { code: 401 } });
  });
});

test('extra groups are given each once, in order', async () => {
  const cached = secretWith({
    'auth-extra-groups': 'system:bootstrappers:z,system:bootstrappers:a:b-1,system:bootstrappers:z',
  });
  expect((await userOf({ cached }))?.groups).toEqual([
    'system:bootstrappers',
    'system:bootstrappers:a:b-1',
    'system:bootstrappers:z',
  ]);
});

test.each<[what: string, data: Data, parts?: object]>([
  ['another secret', { 'token-secret': '0123456789abcdeg' }],
  ['a shorter secret', { 'token-secret': '0123456789abcde' }],
  ['no secret', { 'token-secret': undefined }],
  ['another id', { 'token-id': 'abc124' }],
  ['no id', { 'token-id': undefined }],
  ['no such usage', { 'usage-bootstrap-authentication': undefined }],
  ['another word for the usage', { 'usage-bootstrap-authentication': 'True' }],
  ['a time that is past', { expiration: '2021-05-04T11:59:59Z' }],
  ['a time that is now', { expiration: '2021-05-04T14:00:00+02:00' }],
  ['a time that is none', { expiration: 'tomorrow' }],
  ['a group of others', { 'auth-extra-groups': 'system:bootstrappers:a,system:masters' }],
  ['a group without a name', { 'auth-extra-groups': 'system:bootstrappers:' }],
  ['a space between groups', { 'auth-extra-groups': 'system:bootstrappers:a, system:bootstrappers:b' }],
  ['another type', {}, { type: 'Opaque' }],
  ['no data', {}, { data: undefined }],
  [
    'its end in sight',
    {},
    { metadata: { name: 'bootstrap-token-abc123', deletionTimestamp: '2021-05-04T11:00:00Z' } },
  ],
])('a Secret with %s authenticates no client', async (_what, data, parts = {}) => {
  expect(await userOf({ cached: secretWith(data, parts) })).toBeUndefined();
});

test('a token is good up to its end', async () => {
  expect(await userOf({ cached: secretWith({ expiration: '2021-05-04T12:00:01Z' }) })).toBeDefined();
});

test.each(['', 'abc123', 'abc123.0123456789abcde', 'ABC123.0123456789abcdef', `${TOKEN}x`, `${TOKEN}\n`])(
  '%j is no bootstrap token, and nothing is read for it',
  async (token) => {
    const read = async (): Promise<ApiObject | undefined> => Promise.reject(new Error('read'));
    const lookUp = bootstrapTokenLookup({
      secrets: { cached: read, fresh: read },
      clock: { now: () => now },
      log: silentLog,
    });
    expect(await lookUp(token, SIGNAL)).toBeUndefined();
  },
);

test('a token that this replica has not heard of yet, or has old news of, is good all the same', async () => {
  expect(await userOf({ fresh: secretWith() })).toBeDefined();
  expect(await userOf({ cached: secretWith({ 'token-secret': 'x' }), fresh: secretWith() })).toBeDefined();
});
