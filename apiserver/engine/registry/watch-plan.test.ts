import { StatusError } from '../../../shared/errors/status-error';
import type { ListQuery } from './list-plan';
import { checkListOptions } from './list-plan';
import { checkWatchOptions, planWatch } from './watch-plan';

const QUERY: ListQuery = {
  resourceVersion: '',
  resourceVersionMatch: '',
  limit: 0,
  continue: '',
  timeoutSeconds: undefined,
  sendInitialEvents: undefined,
};
const NOT_OLDER = { resourceVersionMatch: 'NotOlderThan' };

function refusal(run: () => unknown): { readonly code: number; readonly causes: readonly string[] } {
  try {
    run();
  } catch (error) {
    if (!(error instanceof StatusError)) throw error;
    const { code, details } = error.status;
    return { code, causes: (details?.causes ?? []).map(({ message }) => message ?? '') };
  }
  return { code: 200, causes: [] };
}

test.each([
  ['', { kind: 'state', read: { kind: 'most recent' }, announcesEnd: false }],
  ['0', { kind: 'state', read: { kind: 'any' }, announcesEnd: false }],
  ['7', { kind: 'after', revision: 7 }],
  ['18446744073709551615', { kind: 'after', revision: Number.MAX_SAFE_INTEGER }],
])('a watch with resourceVersion "%s"', (resourceVersion, plan) => {
  expect(planWatch({ ...QUERY, resourceVersion })).toEqual(plan);
});

test.each([
  ['', true, { kind: 'state', read: { kind: 'most recent' }, announcesEnd: true }],
  ['0', true, { kind: 'state', read: { kind: 'any' }, announcesEnd: true }],
  ['7', true, { kind: 'state', read: { kind: 'not older than', revision: 7 }, announcesEnd: true }],
  ['', false, { kind: 'changes', read: { kind: 'most recent' } }],
  ['0', false, { kind: 'changes', read: { kind: 'any' } }],
  ['7', false, { kind: 'after', revision: 7 }],
])(
  'a watch with resourceVersion "%s" and sendInitialEvents=%p',
  (resourceVersion, sendInitialEvents, plan) => {
    expect(planWatch({ ...QUERY, ...NOT_OLDER, resourceVersion, sendInitialEvents })).toEqual(plan);
  },
);

const NEEDS_MATCH = 'Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan';
const NO_MATCH = 'Forbidden: resourceVersionMatch is forbidden for watch';
const NO_VERSION = 'Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided';
const NO_CONTINUE = 'Forbidden: resourceVersionMatch is forbidden when continue is provided';
const unsupported = (match: string): string =>
  `Unsupported value: "${match}": supported values: "NotOlderThan"`;

test.each<[Partial<ListQuery>, readonly string[]]>([
  [{ sendInitialEvents: true }, [NEEDS_MATCH]],
  [{ sendInitialEvents: false }, [NEEDS_MATCH]],
  [{ sendInitialEvents: true, resourceVersionMatch: 'Exact' }, [NEEDS_MATCH, unsupported('Exact')]],
  [{ sendInitialEvents: true, resourceVersionMatch: 'Odd' }, [NEEDS_MATCH, unsupported('Odd')]],
  [{ sendInitialEvents: true, ...NOT_OLDER, continue: 'x' }, [NO_CONTINUE]],
  [{ ...NOT_OLDER, resourceVersion: '7' }, [NO_MATCH]],
  [{ ...NOT_OLDER, resourceVersion: '0' }, [NO_MATCH]],
  [{ ...NOT_OLDER, resourceVersion: 'text' }, [NO_MATCH]],
  [{ resourceVersionMatch: 'Exact', resourceVersion: '7' }, [NO_MATCH]],
  [
    { resourceVersionMatch: 'Odd', resourceVersion: '7' },
    [NO_MATCH, `Unsupported value: "Odd": supported values: "Exact", "NotOlderThan", ""`],
  ],
  [{ ...NOT_OLDER, continue: 'x' }, [NO_MATCH, NO_VERSION, NO_CONTINUE]],
])('a watch with %j is invalid', (options, causes) => {
  expect(refusal(() => checkWatchOptions({ ...QUERY, ...options }))).toEqual({ code: 422, causes });
});

test('a watch ignores limit and continue', () => {
  expect(planWatch({ ...QUERY, limit: 1, continue: 'no token', resourceVersion: '7' })).toEqual({
    kind: 'after',
    revision: 7,
  });
});

test.each(['x', '-5', '18446744073709551616'])(
  'a watch with resourceVersion "%s" is a bad request',
  (each) => {
    expect(refusal(() => planWatch({ ...QUERY, resourceVersion: each })).code).toBe(400);
  },
);

test.each([true, false])('a list with sendInitialEvents=%p is invalid', (sendInitialEvents) => {
  const causes = ['Forbidden: sendInitialEvents is forbidden for list'];
  expect(refusal(() => checkListOptions({ ...QUERY, sendInitialEvents }))).toEqual({ code: 422, causes });
});
