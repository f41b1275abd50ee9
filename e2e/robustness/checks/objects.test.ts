import type { ObjectOperation } from '../record/operation';
import { madeHistory } from '../testing/hand-made';
import { checkObjects } from './objects';

const KEY = 'configmaps/chaos-0/o0';

function write(operation: Partial<ObjectOperation>): ObjectOperation {
  return {
    key: KEY,
    replica: 0,
    verb: 'apply',
    invokedMs: 0,
    returnedMs: 1,
    turn: 'a',
    outcome: 'done',
    ...operation,
  };
}

function checksOf(
  history: ReturnType<typeof madeHistory>,
  ...operations: readonly ObjectOperation[]
): readonly string[] {
  return checkObjects(operations, history).map(({ check }) => check);
}

test('writes that are stored as they were acknowledged are right, and so are those of unknown outcome that are stored once or never', () => {
  const history = madeHistory([101, KEY, 'a'], [103, KEY, 'b'], [104, KEY, 'c']);
  const operations = [
    write({ version: 101 }),
    write({ turn: 'b', outcome: 'unknown', returnedMs: Infinity, invokedMs: 2 }),
    write({ turn: 'lost', outcome: 'unknown', returnedMs: Infinity, invokedMs: 2 }),
    write({
      turn: 'c',
      verb: 'guarded update',
      expected: { turn: 'b', version: 103 },
      version: 104,
      invokedMs: 3,
      returnedMs: 4,
    }),
  ];
  expect(checksOf(history, ...operations)).toEqual([]);
});

test.each<[string, ReturnType<typeof madeHistory>, ObjectOperation, string]>([
  ['is not stored', madeHistory([102, KEY, 'b']), write({ version: 101 }), 'acknowledged writes are stored'],
  [
    'is stored at another version',
    madeHistory([102, KEY, 'a']),
    write({ version: 101 }),
    'acknowledged writes are stored',
  ],
  ['is stored twice', madeHistory([101, KEY, 'a'], [102, KEY, 'a']), write({ version: 101 }), 'applied once'],
  [
    'of unknown outcome is stored twice',
    madeHistory([101, KEY, 'a'], [102, KEY, 'a']),
    write({ outcome: 'unknown', returnedMs: Infinity }),
    'applied once',
  ],
  ['was refused, and is stored', madeHistory([101, KEY, 'a']), write({ outcome: 'absent' }), 'applied once'],
  [
    'replaced another version than it presumed',
    madeHistory([101, KEY, 'x'], [102, KEY, 'y'], [103, KEY, 'a']),
    write({ verb: 'guarded update', expected: { turn: 'x', version: 101 }, version: 103 }),
    'no lost update',
  ],
])('a write that %s is found', (_what, history, operation, check) => {
  expect(checksOf(history, operation)).toContain(check);
});

describe('a pod that was marked to go, and left there', () => {
  const lost = write({ verb: 'delete', turn: '', outcome: 'unknown', invokedMs: 2, returnedMs: Infinity });
  const late = write({ verb: 'update', turn: 'late', version: 102, invokedMs: 5, returnedMs: 7 });
  const created = write({ verb: 'create', version: 101 });
  const read = write({ verb: 'get', turn: '', seen: 'a', version: 102, invokedMs: 3, returnedMs: 4 });
  const gone = write({ verb: 'get', turn: '', outcome: 'absent', invokedMs: 8, returnedMs: 9 });

  test('is deleted by the next write, which returns the version of the mark and is not stored', () => {
    const history = madeHistory([101, KEY, 'a'], [102, KEY, 'a', undefined, 'marked'], [103, KEY]);
    expect(checksOf(history, created, lost, read, late, gone)).toEqual([]);
    const guarded = { ...late, verb: 'guarded update', expected: { turn: 'a', version: 102 } } as const;
    expect(checksOf(history, created, lost, read, guarded, gone)).toEqual([]);
    const other = { ...guarded, expected: { turn: 'a', version: 101 } };
    expect(checksOf(history, created, lost, read, other, gone)).toContain('acknowledged writes are stored');
  });

  test('may not swallow a write and stay, nor may one that was not marked', () => {
    const stays = madeHistory([101, KEY, 'a'], [102, KEY, 'a', undefined, 'marked'], [103, KEY, 'b']);
    expect(checksOf(stays, created, lost, read, late)).toContain('acknowledged writes are stored');
    const seenLater = write({ ...read, invokedMs: 8, returnedMs: 9 });
    const goneAtLast = madeHistory([101, KEY, 'a'], [102, KEY, 'a', undefined, 'marked'], [103, KEY]);
    expect(checksOf(goneAtLast, created, lost, late, seenLater)).toEqual(['linearizable']);
    const deletedLater = { ...lost, outcome: 'done', invokedMs: 8, returnedMs: 9 } as const;
    expect(checksOf(goneAtLast, created, late, deletedLater)).toEqual(['linearizable']);
    const unmarked = madeHistory([101, KEY, 'a'], [102, KEY, 'a'], [103, KEY]);
    expect(checksOf(unmarked, created, lost, read, late)).toContain('acknowledged writes are stored');
  });
});

test('an object that was there before the record began is known', () => {
  const history = madeHistory([99, KEY, 'old'], [101, KEY, 'a']);
  const read = write({ verb: 'get', turn: '', seen: 'old', version: 99 });
  const update = write({ verb: 'update', version: 101, invokedMs: 2, returnedMs: 3 });
  expect(checksOf(history, read, update)).toEqual([]);
});
