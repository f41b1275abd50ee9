import { StatusError } from '../../../shared/errors/status-error';
import { GROUP, USER, USER_GROUP } from '../../../shared/names';
import type { AccessQuestion, Authorizer } from '../request/access';
import type { Exchange, UserInfo } from '../request/exchange';
import { newExchange } from '../request/testing/new-exchange';
import { createImpersonationStage } from './impersonation';

const admin: UserInfo = { name: 'admin', uid: '1', groups: [USER_GROUP.masters], extra: { a: ['b'] } };
const allowing: Authorizer = async () => Promise.resolve({ decision: 'allow', reason: '' });

type Headers = readonly (readonly [name: string, value: string])[];

function exchangeWith(headers: Headers, parts: Partial<Exchange> = {}): Exchange {
  return newExchange({
    user: admin,
    path: '/api/v1/pods',
    headers: Object.fromEntries(headers.map(([name, value]) => [name.toLowerCase(), value])),
    rawHeaders: headers.flat(),
    ...parts,
  });
}

/** As whom the request goes on. */
async function userOf(headers: Headers, authorizer = allowing): Promise<UserInfo> {
  const exchange = exchangeWith(headers);
  let reached = false;
  await createImpersonationStage(authorizer)(exchange, async () => {
    reached = true;
    await Promise.resolve();
  });
  expect(reached).toBe(true);
  return exchange.user;
}

test.each<[string, Headers, Partial<UserInfo>]>([
  ['somebody', [['Impersonate-User', 'alice']], { name: 'alice', groups: [USER_GROUP.authenticated] }],
  [
    'the first of several',
    [
      ['impersonate-user', 'alice'],
      ['IMPERSONATE-USER', 'bob'],
    ],
    { name: 'alice' },
  ],
  [
    'a member of groups',
    [
      ['Impersonate-User', 'alice'],
      ['Impersonate-Group', 'devs, ops'],
      ['impersonate-group', 'qa'],
    ],
    { groups: ['devs, ops', 'qa', USER_GROUP.authenticated] },
  ],
  [
    'authenticated where that is said',
    [
      ['Impersonate-User', 'alice'],
      ['Impersonate-Group', USER_GROUP.authenticated],
      ['Impersonate-Group', 'devs'],
    ],
    { groups: [USER_GROUP.authenticated, 'devs'] },
  ],
  [
    'unauthenticated where that is said',
    [
      ['Impersonate-User', 'alice'],
      ['Impersonate-Group', USER_GROUP.unauthenticated],
    ],
    { groups: [USER_GROUP.unauthenticated] },
  ],
  ['anonymous', [['Impersonate-User', USER.anonymous]], { groups: [USER_GROUP.unauthenticated] }],
  [
    'anonymous with groups',
    [
      ['Impersonate-User', USER.anonymous],
      ['Impersonate-Group', USER_GROUP.authenticated],
    ],
    { groups: [USER_GROUP.authenticated, USER_GROUP.unauthenticated] },
  ],
  [
    'a service account',
    [['Impersonate-User', 'system:serviceaccount:ns:robot']],
    { groups: ['system:serviceaccounts', 'system:serviceaccounts:ns', USER_GROUP.authenticated] },
  ],
  [
    'a service account with other groups',
    [
      ['Impersonate-User', 'system:serviceaccount:ns:robot'],
      ['Impersonate-Group', 'devs'],
    ],
    { groups: ['devs', USER_GROUP.authenticated] },
  ],
  [
    'somebody with extras',
    [
      ['Impersonate-User', 'alice'],
      ['Impersonate-Extra-Scopes', 'view'],
      ['Impersonate-Extra-scopes', 'edit'],
      ['Impersonate-Extra-Acme%2FProject', 'x'],
      ['Impersonate-Extra-caf%c3%a9', 'y'],
      ['Impersonate-Extra-50%zz', 'z'],
      ['Impersonate-Extra-__proto__', 'p'],
    ],
    {
      extra: Object.fromEntries([
        ['scopes', ['view', 'edit']],
        ['acme/project', ['x']],
        ['café', ['y']],
        ['50%zz', ['z']],
        ['__proto__', ['p']],
      ]),
    },
  ],
  [
    'somebody with a name in UTF-8',
    [['Impersonate-User', Buffer.from('jörg').toString('latin1')]],
    { name: 'jörg' },
  ],
])('a request is carried out as %s', async (_whom, headers, expected) => {
  const user = await userOf(headers);
  expect(user).toMatchObject(expected);
  expect(user.uid).toBe('');
  expect(Object.keys(user.extra)).toEqual(Object.keys(expected.extra ?? {}));
});

test.each<[string, Headers]>([
  ['no such headers', [['Accept', 'x']]],
  ['an empty user', [['Impersonate-User', '']]],
  ['a uid, which this version does not know', [['Impersonate-Uid', '7']]],
])('a request with %s stays its sender’s', async (_what, headers) => {
  expect(await userOf(headers)).toBe(admin);
});

test('every part of the other user is asked for, in order, for the one who sent the request', async () => {
  const questions: AccessQuestion[] = [];
  await userOf(
    [
      ['Impersonate-User', 'system:serviceaccount:ns:robot'],
      ['Impersonate-Group', 'devs'],
      ['Impersonate-Extra-scopes', 'view'],
    ],
    async (question) => {
      questions.push(question);
      return Promise.resolve({ decision: 'allow', reason: '' });
    },
  );
  const common = { user: admin, verb: 'impersonate', isResourceRequest: true, path: '' };
  const core = { apiGroup: '', apiVersion: '', subresource: '' };
  expect(questions).toEqual([
    { ...common, ...core, resource: 'serviceaccounts', namespace: 'ns', name: 'robot' },
    { ...common, ...core, resource: 'groups', namespace: '', name: 'devs' },
    {
      ...common,
      apiGroup: GROUP.authentication,
      apiVersion: 'v1',
      resource: 'userextras',
      subresource: 'scopes',
      namespace: '',
      name: 'view',
    },
  ]);
});

test.each([
  'system:serviceaccount:ns',
  'system:serviceaccount:ns:robot:x',
  'system:serviceaccount:N_S:robot',
  'system:serviceaccount:ns:',
])('"%s" is the name of a user, as no service account has it', async (name) => {
  const asked: string[] = [];
  const user = await userOf([['Impersonate-User', name]], async ({ resource }) => {
    asked.push(resource);
    return Promise.resolve({ decision: 'allow', reason: '' });
  });
  expect(asked).toEqual(['users']);
  expect(user).toMatchObject({ name, groups: [USER_GROUP.authenticated] });
});

test.each<[string, Headers, string, object]>([
  [
    'users',
    [['Impersonate-User', 'bob']],
    'users "bob" is forbidden: User "admin" cannot impersonate resource "users" in API group "" at the cluster scope: no',
    { kind: 'users', name: 'bob' },
  ],
  [
    'groups',
    [
      ['Impersonate-User', 'alice'],
      ['Impersonate-Group', 'g'],
    ],
    'groups "g" is forbidden: User "admin" cannot impersonate resource "groups" in API group "" at the cluster scope: no',
    { kind: 'groups', name: 'g' },
  ],
  [
    'serviceaccounts',
    [['Impersonate-User', 'system:serviceaccount:ns:robot']],
    'serviceaccounts "robot" is forbidden: User "admin" cannot impersonate resource "serviceaccounts" in API group "" in the namespace "ns": no',
    { kind: 'serviceaccounts', name: 'robot' },
  ],
  [
    'userextras',
    [
      ['Impersonate-User', 'alice'],
      ['Impersonate-Extra-scopes', 'edit'],
    ],
    `userextras.${GROUP.authentication} "edit" is forbidden: User "admin" cannot impersonate resource "userextras/scopes" in API group "${GROUP.authentication}" at the cluster scope: no`,
    { group: GROUP.authentication, kind: 'userextras', name: 'edit' },
  ],
])('a user that may not impersonate %s gets 403', async (refused, headers, message, details) => {
  const exchange = exchangeWith(headers);
  const authorizer: Authorizer = async ({ resource }) =>
    Promise.resolve({ decision: resource === refused ? 'no-opinion' : 'allow', reason: 'no' });
  const ended: unknown = await createImpersonationStage(authorizer)(exchange, () => {
    throw new Error('the request went on');
  }).catch((error: unknown) => error);
  expect(ended).toBeInstanceOf(StatusError);
  expect((ended as StatusError).status).toMatchObject({ code: 403, reason: 'Forbidden', message, details });
  expect(exchange.user).toBe(admin);
});

test.each<[Headers, string]>([
  [[['Impersonate-Group', 'a<b']], '{Group  a&lt;b    }'],
  [
    [
      ['Impersonate-Extra-k', 'v'],
      ['Impersonate-Group', 'g'],
      ['Impersonate-User', ''],
    ],
    `{Group  g    } {UserExtra  v  ${GROUP.authentication}/v1  k}`,
  ],
])('groups and extras without a user are 500 in plain text', async (headers, wanted) => {
  const exchange = exchangeWith(headers, { query: new URLSearchParams('limit=1') });
  await createImpersonationStage(allowing)(exchange, () => {
    throw new Error('the request went on');
  });
  expect(exchange.answer).toMatchObject({
    code: 500,
    headers: { 'Content-Type': 'text/plain; charset=utf-8' },
    body: Buffer.from(
      `Internal Server Error: "/api/v1/pods?limit=1": requested [${wanted}] without impersonating a user\n`,
    ),
  });
});

test('later stages do not see the impersonation headers, and see the others', async () => {
  const exchange = exchangeWith([
    ['Accept', 'x'],
    ['Impersonate-User', 'alice'],
    ['Impersonate-Group', 'g'],
    ['Impersonate-Extra-k', 'v'],
    ['User-Agent', 'impersonate-user'],
  ]);
  await createImpersonationStage(allowing)(exchange, async () => Promise.resolve());
  expect(exchange.headers).toEqual({ accept: 'x', 'user-agent': 'impersonate-user' });
  expect(exchange.rawHeaders).toEqual(['Accept', 'x', 'User-Agent', 'impersonate-user']);
});

test('a watch stands on the right to impersonate, and other requests on nothing', async () => {
  let isAllowed = true;
  const authorizer: Authorizer = async () =>
    Promise.resolve({ decision: isAllowed ? 'allow' : 'no-opinion', reason: '' });
  const grounds = async (verb: string): Promise<Exchange['grounds']> => {
    const exchange = exchangeWith([
      ['Impersonate-User', 'alice'],
      ['Impersonate-Group', 'devs'],
    ]);
    exchange.info = { ...exchange.info, isResourceRequest: true, verb };
    await createImpersonationStage(authorizer)(exchange, async () => Promise.resolve());
    return exchange.grounds;
  };
  expect(await grounds('list')).toBeUndefined();
  const stands = (await grounds('watch')) ?? [];
  const refusals = async (): Promise<unknown[]> =>
    Promise.all(stands.map(async (ground) => ground.refusal(new AbortController().signal)));
  expect(await refusals()).toEqual([undefined, undefined]);
  isAllowed = false;
  expect(await refusals()).toMatchObject([{ status: { code: 403 } }, { status: { code: 403 } }]);
});
