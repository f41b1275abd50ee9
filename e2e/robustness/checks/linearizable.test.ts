import type { ObjectOperation } from '../record/operation';
import { searchOrder } from './linearizable';

type Told = Partial<ObjectOperation> &
  Pick<ObjectOperation, 'verb' | 'invokedMs' | 'returnedMs'> & { readonly turn?: string };

function history(...told: readonly Told[]): readonly ObjectOperation[] {
  return told.map((each) => ({
    key: 'configmaps/chaos-0/o0',
    replica: 0,
    outcome: 'done' as const,
    turn: '',
    ...each,
  }));
}

const CREATED = { verb: 'create', turn: 'a', version: 1, invokedMs: 0, returnedMs: 1 } as const;

describe('answers of one object that one order explains', () => {
  test.each<[string, readonly Told[]]>([
    [
      'one after the other',
      [
        CREATED,
        { verb: 'get', seen: 'a', version: 1, invokedMs: 2, returnedMs: 3 },
        { verb: 'update', turn: 'b', version: 2, invokedMs: 4, returnedMs: 5 },
        { verb: 'delete', invokedMs: 6, returnedMs: 7 },
        { verb: 'get', outcome: 'absent', invokedMs: 8, returnedMs: 9 },
        { verb: 'create', turn: 'c', version: 4, invokedMs: 10, returnedMs: 11 },
      ],
    ],
    [
      'a read beside a write shows either state',
      [
        CREATED,
        { verb: 'update', turn: 'b', version: 2, invokedMs: 2, returnedMs: 9 },
        { verb: 'get', seen: 'b', version: 2, invokedMs: 3, returnedMs: 4 },
        { verb: 'get', seen: 'b', version: 2, invokedMs: 5, returnedMs: 6 },
      ],
    ],
    [
      'a deletion of unknown outcome takes effect late',
      [
        CREATED,
        { verb: 'delete', outcome: 'unknown', invokedMs: 2, returnedMs: Infinity },
        { verb: 'get', seen: 'a', version: 1, invokedMs: 3, returnedMs: 4 },
        { verb: 'get', outcome: 'absent', invokedMs: 5, returnedMs: 6 },
      ],
    ],
    [
      'or never',
      [
        CREATED,
        { verb: 'delete', outcome: 'unknown', invokedMs: 2, returnedMs: Infinity },
        { verb: 'update', turn: 'b', version: 2, invokedMs: 3, returnedMs: 4 },
        { verb: 'get', seen: 'b', version: 2, invokedMs: 5, returnedMs: 6 },
      ],
    ],
    [
      'a deletion of the whole collection may have found it, or not',
      [
        CREATED,
        { verb: 'deletecollection', invokedMs: 2, returnedMs: 5 },
        { verb: 'get', outcome: 'absent', invokedMs: 6, returnedMs: 7 },
        { verb: 'create', turn: 'b', version: 3, invokedMs: 8, returnedMs: 9 },
        { verb: 'deletecollection', invokedMs: 10, returnedMs: 12 },
        { verb: 'get', seen: 'b', version: 3, invokedMs: 13, returnedMs: 14 },
      ],
    ],
    [
      'of two guarded updates one is refused',
      [
        CREATED,
        {
          verb: 'guarded update',
          expected: { turn: 'a', version: 1 },
          turn: 'b',
          version: 2,
          invokedMs: 2,
          returnedMs: 6,
        },
        {
          verb: 'guarded update',
          expected: { turn: 'a', version: 1 },
          turn: 'c',
          outcome: 'conflict',
          invokedMs: 3,
          returnedMs: 5,
        },
      ],
    ],
  ])('%s', (_what, told) => {
    expect(searchOrder(history(...told)).verdict).toBe('linearizable');
  });

  test('many clients on one object for long', () => {
    const told = Array.from({ length: 3_000 }, (_, turn): Told => {
      const invokedMs = turn * 2;
      return { verb: 'apply', turn: String(turn), version: turn + 1, invokedMs, returnedMs: invokedMs + 9 };
    });
    expect(searchOrder(history(...told)).verdict).toBe('linearizable');
  });
});

describe('answers of one object that no order explains', () => {
  test.each<[string, readonly Told[]]>([
    [
      'a read of what was replaced before it began',
      [
        CREATED,
        { verb: 'update', turn: 'b', version: 2, invokedMs: 2, returnedMs: 3 },
        { verb: 'get', seen: 'a', version: 1, invokedMs: 4, returnedMs: 5 },
      ],
    ],
    [
      'two reads that go back, beside one write',
      [
        CREATED,
        { verb: 'update', turn: 'b', version: 2, invokedMs: 2, returnedMs: 9 },
        { verb: 'get', seen: 'b', version: 2, invokedMs: 3, returnedMs: 4 },
        { verb: 'get', seen: 'a', version: 1, invokedMs: 5, returnedMs: 6 },
      ],
    ],
    [
      'an acknowledged creation that is not there',
      [CREATED, { verb: 'get', outcome: 'absent', invokedMs: 2, returnedMs: 3 }],
    ],
    [
      'a deleted object that is back',
      [
        CREATED,
        { verb: 'delete', invokedMs: 2, returnedMs: 3 },
        { verb: 'get', seen: 'a', version: 1, invokedMs: 4, returnedMs: 5 },
      ],
    ],
    [
      'two creations of one object',
      [CREATED, { verb: 'create', turn: 'b', version: 2, invokedMs: 2, returnedMs: 3 }],
    ],
    [
      'two guarded updates of one version',
      [
        CREATED,
        {
          verb: 'guarded update',
          expected: { turn: 'a', version: 1 },
          turn: 'b',
          version: 2,
          invokedMs: 2,
          returnedMs: 6,
        },
        {
          verb: 'guarded update',
          expected: { turn: 'a', version: 1 },
          turn: 'c',
          version: 3,
          invokedMs: 3,
          returnedMs: 5,
        },
      ],
    ],
    [
      'versions that go down',
      [
        { ...CREATED, version: 5 },
        { verb: 'update', turn: 'b', version: 4, invokedMs: 2, returnedMs: 3 },
      ],
    ],
    [
      'a refusal as absent of what is there',
      [CREATED, { verb: 'merge patch', turn: 'b', outcome: 'absent', invokedMs: 2, returnedMs: 3 }],
    ],
    [
      'a deletion of the collection that had returned long ago',
      [
        CREATED,
        { verb: 'deletecollection', invokedMs: 2, returnedMs: 3 },
        { verb: 'get', seen: 'a', version: 1, invokedMs: 4, returnedMs: 5 },
        { verb: 'get', outcome: 'absent', invokedMs: 6, returnedMs: 7 },
      ],
    ],
  ])('%s', (_what, told) => {
    const { verdict, stuckAt } = searchOrder(history(...told));
    expect(verdict).toBe('not linearizable');
    expect(stuckAt).not.toEqual([]);
  });
});
