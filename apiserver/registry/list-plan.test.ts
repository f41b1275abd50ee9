import { StatusError } from '../../shared/errors/status-error';
import { decodeContinueToken, encodeContinueToken } from './continue-token';
import type { ListQuery } from './list-plan';
import { planGet, planList } from './list-plan';

const QUERY: ListQuery = { resourceVersion: '', resourceVersionMatch: '', limit: 0, continue: '' };

function codeOf(run: () => unknown): number {
  try {
    run();
  } catch (error) {
    if (error instanceof StatusError) return error.status.code;
    throw error;
  }
  return 200;
}

describe('get', () => {
  test.each([
    ['', { kind: 'most recent' }],
    ['0', { kind: 'any' }],
    ['7', { kind: 'not older than', revision: 7 }],
  ])('resourceVersion "%s"', (version, plan) => {
    expect(planGet(version)).toEqual(plan);
  });

  test.each(['x', '-1', '1.5', '99999999999999999999'])(
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
    expect(codeOf(() => planList({ ...QUERY, resourceVersion, resourceVersionMatch }))).toBe(422);
  });

  test('a token goes on at its exact version, behind its key', () => {
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

  test('the way out of an expired token goes on in the newest state', () => {
    const token = encodeContinueToken({ revision: undefined, after: 'a' });
    expect(planList({ ...QUERY, continue: token }).read).toEqual({ kind: 'most recent' });
  });
});

describe('continue tokens', () => {
  test.each([
    ['garbage'],
    [Buffer.from('{}').toString('base64url')],
    [Buffer.from('{"v":1,"rv":1,"start":""}').toString('base64url')],
    [Buffer.from('{"v":1,"rv":0,"start":"a"}').toString('base64url')],
    [Buffer.from('{"v":1,"rv":1.5,"start":"a"}').toString('base64url')],
    [Buffer.from('{"v":2,"rv":1,"start":"a"}').toString('base64url')],
    ['a'.repeat(10_000)],
  ])('%# that this server did not make are a bad request', (token) => {
    expect(codeOf(() => decodeContinueToken(token))).toBe(400);
  });

  test.each(['/absolute', '../secrets/x', 'a/../../b', './a'])(
    'a key that leaves the place (%s) is refused',
    (after) => {
      const token = Buffer.from(JSON.stringify({ v: 1, rv: 1, start: after })).toString('base64url');
      expect(codeOf(() => decodeContinueToken(token))).toBe(400);
    },
  );
});
