import { StatusError } from '../../../shared/errors/status-error';
import { GROUP } from '../../../shared/names';
import { decodeContinueToken, encodeContinueToken } from './continue-token';
import type { ListQuery } from './list-plan';
import { checkListOptions, planGet, planList } from './list-plan';

const QUERY: ListQuery = {
  resourceVersion: '',
  resourceVersionMatch: '',
  limit: 0,
  continue: '',
  timeoutSeconds: undefined,
  sendInitialEvents: undefined,
};

function codeOf(run: () => unknown): number {
  try {
    run();
  } catch (error) {
    if (error instanceof StatusError) return error.status.code;
    throw error;
  }
  return 200;
}

function forged(token: object): string {
  const whole = { v: `${GROUP.meta}/v1`, rv: 1, start: 'a\0', ...token };
  return Buffer.from(JSON.stringify(whole)).toString('base64url');
}

describe('get', () => {
  test.each([
    ['', { kind: 'most recent' }],
    ['0', { kind: 'any' }],
    ['7', { kind: 'not older than', revision: 7 }],
    ['007', { kind: 'not older than', revision: 7 }],
    ['000000000000000000000000007', { kind: 'not older than', revision: 7 }],
    ['00', { kind: 'any' }],
    ['9007199254740993', { kind: 'not older than', revision: Number.MAX_SAFE_INTEGER }],
    ['18446744073709551615', { kind: 'not older than', revision: Number.MAX_SAFE_INTEGER }],
  ])('resourceVersion "%s"', (version, plan) => {
    expect(planGet(version)).toEqual(plan);
  });

  test.each(['x', '-1', '+1', ' 1', '1.5', '1e3', '0x10', '١', '18446744073709551616', '9'.repeat(9_999)])(
    'resourceVersion "%s" is a bad request',
    (version) => {
      expect(codeOf(() => planGet(version))).toBe(400);
    },
  );
});

describe('list, by the table of the specification', () => {
  test.each([
    ['', '', 0, { kind: 'most recent' }],
    ['0', '', 0, { kind: 'any' }],
    ['7', '', 0, { kind: 'not older than', revision: 7 }],
    ['', '', 5, { kind: 'most recent' }],
    ['0', '', 5, { kind: 'any' }],
    ['7', '', 5, { kind: 'exact', revision: 7 }],
    ['7', 'Exact', 0, { kind: 'exact', revision: 7 }],
    ['7', 'Exact', 5, { kind: 'exact', revision: 7 }],
    ['0', 'NotOlderThan', 5, { kind: 'any' }],
    ['7', 'NotOlderThan', 0, { kind: 'not older than', revision: 7 }],
    ['7', 'NotOlderThan', 5, { kind: 'not older than', revision: 7 }],
  ])('resourceVersion "%s", match "%s", limit %p', (resourceVersion, resourceVersionMatch, limit, read) => {
    expect(planList({ ...QUERY, resourceVersion, resourceVersionMatch, limit }).read).toEqual(read);
  });

  test.each([
    ['', 'Exact'],
    ['', 'NotOlderThan'],
    ['0', 'Exact'],
    ['7', 'Nonsense'],
  ])('resourceVersion "%s" with match "%s" is invalid', (resourceVersion, resourceVersionMatch) => {
    expect(codeOf(() => checkListOptions({ ...QUERY, resourceVersion, resourceVersionMatch }))).toBe(422);
  });

  test('a token continues at its exact version, after its key', () => {
    const token = encodeContinueToken({ revision: 9, after: 'ns/web' });
    expect(planList({ ...QUERY, limit: 2, continue: token })).toEqual({
      read: { kind: 'exact', revision: 9 },
      limit: 2,
      after: 'ns/web',
    });
  });

  test('a token with a resourceVersion other than 0 is a bad request', () => {
    const token = encodeContinueToken({ revision: 9, after: 'a' });
    expect(codeOf(() => planList({ ...QUERY, resourceVersion: '0', continue: token }))).toBe(200);
    expect(codeOf(() => planList({ ...QUERY, resourceVersion: '9', continue: token }))).toBe(400);
  });

  test('the replacement of an expired token continues in the newest state', () => {
    const token = encodeContinueToken({ revision: undefined, after: 'a' });
    expect(planList({ ...QUERY, continue: token }).read).toEqual({ kind: 'most recent' });
  });
});

describe('continue tokens', () => {
  test.each([
    ['garbage'],
    [Buffer.from('{}').toString('base64url')],
    [forged({ start: '' })],
    [forged({ start: '\0' })],
    [forged({ start: 7 })],
    [forged({ rv: 0 })],
    [forged({ rv: 1.5 })],
    [forged({ rv: '1' })],
    [forged({ v: 1 })],
    [forged({ v: 'v1' })],
    [Buffer.from('null').toString('base64url')],
    [Buffer.from('[]').toString('base64url')],
    ['a'.repeat(10_000)],
  ])('%# that this server did not make are a bad request', (token) => {
    expect(codeOf(() => decodeContinueToken(token))).toBe(400);
  });

  test('of this server are accepted, and no others', () => {
    for (const token of [
      { revision: 9, after: 'ns/web' },
      { revision: undefined, after: 'ä' },
    ]) {
      expect(decodeContinueToken(encodeContinueToken(token))).toEqual(token);
    }
    expect(decodeContinueToken(forged({}))).toEqual({ revision: 1, after: 'a' });
  });

  test.each(['//absolute', '../secrets/x', 'a/../../b', './a', 'a//b', 'a/', 'a/..', '..'])(
    'a key that leaves the place (%s) is refused',
    (after) => {
      expect(codeOf(() => decodeContinueToken(forged({ start: after })))).toBe(400);
      expect(codeOf(() => decodeContinueToken(forged({ start: `${after}\0` })))).toBe(400);
    },
  );
});
