import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { inspect } from 'node:util';
import { StatusError, serviceUnavailable } from '../../../shared/errors/status-error';
import { USER, USER_GROUP } from '../../../shared/names';
import type { Exchange } from '../request/exchange';
import { newExchange } from '../request/testing/new-exchange';
import { createAuthenticationStage } from './authenticate';
import type { AuthenticationCounts } from './authentication-counts';
import type { Authenticator } from './authenticator';
import { unauthorized } from './authenticator';
import { bearerToken, bearerTokenOf } from './bearer-token';
import { meantForApi } from './token-authenticator';
import { parseCsv } from './csv';
import { tokenFileLookup } from './token-file';

const AUDIENCES = ['https://api.example.com'];
let dir = '';
beforeEach(() => {
  dir = mkdtempSync(path.join(tmpdir(), 'tokens-'));
});
afterEach(() => {
  rmSync(dir, { recursive: true });
});

function tokenFile(text: string): string {
  const file = path.join(dir, 'tokens.csv');
  writeFileSync(file, text);
  return file;
}

interface Asked {
  readonly authorization?: string;
  readonly anonymous?: boolean;
  readonly others?: readonly Authenticator[];
}

async function userOf({ authorization, anonymous = false, others = [] }: Asked) {
  const file = tokenFile('s3cret,jane,42,"devs, ops"\nroot,root,0,system:masters\nplain,joe,7\n');
  const exchange = newExchange({ headers: authorization === undefined ? {} : { authorization } });
  const stage = createAuthenticationStage({
    authenticators: [bearerToken(meantForApi(AUDIENCES, tokenFileLookup(file)), AUDIENCES), ...others],
    anonymous,
  });
  let reached = false;
  await stage(exchange, async () => {
    reached = true;
    await Promise.resolve();
  });
  expect(reached).toBe(true);
  return exchange.user;
}

const later: Authenticator = async () =>
  Promise.resolve({ user: { name: 'later', uid: '', groups: [], extra: {} } });
const broken: Authenticator = async () => Promise.reject(new TypeError('broken'));
const refusing: Authenticator = async () => Promise.reject(unauthorized('no'));

describe('the stage', () => {
  test('a known token gives its user, who is also a member of the authenticated', async () => {
    expect(await userOf({ authorization: 'Bearer s3cret' })).toEqual({
      name: 'jane',
      uid: '42',
      groups: ['devs', 'ops', USER_GROUP.authenticated],
      extra: {},
    });
  });

  test('an unknown token is 401 and says no more, also when anonymous requests are let in', async () => {
    const error = await userOf({ authorization: 'Bearer nope', anonymous: true }).catch((e: unknown) => e);
    expect(error).toBeInstanceOf(StatusError);
    expect((error as StatusError).status).toEqual({
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message: 'Unauthorized',
      reason: 'Unauthorized',
      code: 401,
    });
  });

  test.each([undefined, 'Bearer ', 'Basic s3cret'])(
    'a request with "%s" is anonymous where that is let in',
    async (header) => {
      const user = await userOf({
        anonymous: true,
        ...(header === undefined ? {} : { authorization: header }),
      });
      expect(user).toEqual({
        name: USER.anonymous,
        uid: '',
        groups: [USER_GROUP.unauthenticated],
        extra: {},
      });
    },
  );

  test('a request without a credential is 401 where anonymous requests are not let in', async () => {
    await expect(userOf({})).rejects.toMatchObject({ status: { code: 401 } });
  });

  test('a later authenticator may know a user whom an earlier one refused', async () => {
    expect(await userOf({ authorization: 'Bearer nope', others: [later] })).toMatchObject({ name: 'later' });
  });

  test('how it ended is counted, and for whom', async () => {
    const counted: unknown[] = [];
    const counts = {
      observe: (...[result, ms, user]: Parameters<AuthenticationCounts['observe']>) => {
        expect(ms).toBeGreaterThanOrEqual(0);
        counted.push([result, user]);
      },
    };
    for (const authenticators of [[later], [], [refusing]]) {
      const stage = createAuthenticationStage({ authenticators, anonymous: false, counts });
      await stage(newExchange(), async () => Promise.resolve()).catch(() => undefined);
    }
    expect(counted).toEqual([
      ['success', 'later'],
      ['failure', undefined],
      ['error', undefined],
    ]);
  });

  test('a store that does not answer is not taken for a refusal, whatever another credential was worth', async () => {
    const unreachable: Authenticator = async () =>
      Promise.reject(serviceUnavailable('the store does not answer', 1));
    const error = await userOf({ others: [refusing, unreachable] }).catch((e: unknown) => e);
    expect((error as StatusError).status).toMatchObject({ code: 503 });
  });

  test('an authenticator that breaks is not taken for a refusal', async () => {
    await expect(userOf({ others: [broken], anonymous: true })).rejects.toThrow(TypeError);
    await expect(userOf({ others: [refusing], anonymous: true })).rejects.toMatchObject({
      status: { code: 401 },
    });
  });
});

test.each([
  ['Bearer abc', 'abc'],
  ['bearer abc', 'abc'],
  ['  BEARER abc  ', 'abc'],
  ['Bearer abc def', 'abc'],
  ['Bearer', undefined],
  ['Bearer  abc', undefined],
  ['abc', undefined],
  [undefined, undefined],
])('the bearer token of "%s" is %s', (header, token) => {
  expect(bearerTokenOf(header)).toBe(token);
});

describe('the token file', () => {
  test('blank lines, comments, spaces and Windows line ends are no matter', async () => {
    const lookUp = tokenFileLookup(tokenFile('\uFEFF# staff\r\n\r\n a , b , c \r\n  # end'));
    expect(await lookUp('a')).toMatchObject({
      user: { name: 'b', uid: 'c', groups: [USER_GROUP.authenticated] },
    });
  });

  test.each([
    ['a,b,c\nx,y', ':2: a line needs at least 3 columns (token, user name, user uid), found 2'],
    ['a,b,c,d,e', ':1: a line has at most 4 columns, found 5'],
    ['#\n,b,c', ':2: the token is empty'],
    ['a b,b,c', ':1: the token contains whitespace'],
    ['a,,c', ':1: the user name is empty'],
    ['a,b,c\n\na,d,e', ':3: duplicate token, already on line 1'],
    ['a,b,c,"d', ':1: a quote opens or closes in the wrong place'],
    ['a,b,c\nd,e,f,"g\nh,i,j,"k"', ':2: a quote opens or closes in the wrong place'],
    ['a,b"c,d', ':1: a quote opens or closes in the wrong place'],
    ['"a"b,c,d', ':1: a quote opens or closes in the wrong place'],
  ])('%j is refused with its line', (text, problem) => {
    const file = tokenFile(text);
    expect(() => tokenFileLookup(file)).toThrow(`${file}${problem}`);
  });

  test('a missing file is reported by name', () => {
    expect(() => tokenFileLookup(path.join(dir, 'none'))).toThrow(/none: the token file cannot be read/);
  });
});

test('a quoting error is reported without the field, which may be a token', () => {
  const file = tokenFile('zq7"xk9,b,c');
  let thrown: unknown;
  try {
    tokenFileLookup(file);
  } catch (error) {
    thrown = error;
  }
  expect(thrown).toBeInstanceOf(Error);
  expect(inspect(thrown, { depth: Infinity })).not.toMatch(/zq7|xk9/);
});

test('lines may end in either way, and what begins with a comment sign after a field is none', () => {
  expect(
    parseCsv('a,b\r\n\n   \n# c,"\n \t# d\ne#,f # g\n').map(({ line, fields }) => [line, ...fields]),
  ).toEqual([
    [1, 'a', 'b'],
    [6, 'e#', 'f # g'],
  ]);
});

test('quoted fields keep commas, spaces and doubled quotes', () => {
  expect(parseCsv('a,"b, ""c""" ,,"d"')).toEqual([{ line: 1, fields: ['a', 'b, "c"', '', 'd'] }]);
});

test('what is worth noting about a token goes into the audit event of the request', async () => {
  const noted: (readonly [string, string])[] = [];
  const audit = { annotate: (key: string, value: string) => noted.push([key, value]) };
  const exchange = newExchange({
    headers: { authorization: 'Bearer t' },
    audit: audit as unknown as NonNullable<Exchange['audit']>,
  });
  const user = { name: 'jane', uid: '', groups: [], extra: {} };
  const known = bearerToken(
    async () => Promise.resolve({ user, audiences: AUDIENCES, notes: { k: 'v' } }),
    AUDIENCES,
  );
  await known(exchange);
  expect(noted).toEqual([['k', 'v']]);
});
