import { createRandom } from '../../list-watch/chaos/seeded-random';
import type { ObjectOperation, ObjectVerb } from '../record/operation';
import { madeAnswers } from '../testing/made-answers';
import { hasOrder } from '../testing/every-order';
import { searchOrder } from './linearizable';

type Recorded = Partial<ObjectOperation> &
  Pick<ObjectOperation, 'verb' | 'invokedMs' | 'returnedMs'> & { readonly turn?: string };

function history(...recorded: readonly Recorded[]): readonly ObjectOperation[] {
  return recorded.map((each) => ({
    key: 'configmaps/chaos-0/o0',
    replica: 0,
    outcome: 'done' as const,
    turn: '',
    ...each,
  }));
}

const CREATED = { verb: 'create', turn: 'a', version: 1, invokedMs: 0, returnedMs: 1 } as const;

describe('answers of one object that one order explains', () => {
  test.each<[string, readonly Recorded[]]>([
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
  ])('%s', (_what, recorded) => {
    expect(searchOrder(history(...recorded)).result).toBe('linearizable');
  });

  test('many clients on one object for long', () => {
    const recorded = Array.from({ length: 3_000 }, (_, turn): Recorded => {
      const invokedMs = turn * 2;
      return { verb: 'apply', turn: String(turn), version: turn + 1, invokedMs, returnedMs: invokedMs + 9 };
    });
    expect(searchOrder(history(...recorded)).result).toBe('linearizable');
  });

  test('of a thousand requests many of which were never answered, beside reads and refusals of all ages', () => {
    for (let seed = 1; seed <= 5; seed++) {
      const answers = madeAnswers({ seed, clients: 12, operations: 1_000, unknown: 0.25, verbs: VERBS });
      expect(searchOrder(answers).result).toBe('linearizable');
    }
  });

  test('hundreds of deletions that were never answered, before each of hundreds of writes', () => {
    const lost = Array.from({ length: 300 }, (_, index): Recorded => {
      return { verb: 'delete', outcome: 'unknown', invokedMs: index, returnedMs: Infinity };
    });
    const writes = Array.from({ length: 500 }, (_, index): readonly Recorded[] => {
      const invokedMs = 1_000 + index * 10;
      const turn = String(index);
      const version = index + 1;
      return [
        { verb: 'apply', turn, version, invokedMs, returnedMs: invokedMs + 8 },
        { verb: 'get', seen: turn, version, invokedMs: invokedMs + 1, returnedMs: invokedMs + 15 },
        { verb: 'get', outcome: 'absent', invokedMs: invokedMs + 2, returnedMs: invokedMs + 35 },
      ];
    });
    const recorded = [...lost, ...writes.flat()];
    // It can be absent once for each deletion; one more such answer has no order.
    expect(searchOrder(history(...recorded.slice(0, 300 + 3 * 290))).result).toBe('linearizable');
    const { result, stuckAt } = searchOrder(
      history(
        ...lost.slice(0, 1),
        ...[0, 100].flatMap((atMs): Recorded[] => [
          {
            verb: 'apply',
            turn: String(atMs),
            version: atMs + 1,
            invokedMs: 500 + atMs,
            returnedMs: 501 + atMs,
          },
          { verb: 'get', outcome: 'absent', invokedMs: 502 + atMs, returnedMs: 503 + atMs },
        ]),
      ),
    );
    expect(result).toBe('not linearizable');
    expect(stuckAt[0]).toMatchObject({ verb: 'get', invokedMs: 602 });
  });
});

describe('the search', () => {
  test('says what trying every order says, of answers that are right and of such that are not', () => {
    const random = createRandom(14);
    const found = { right: 0, wrong: 0 };
    for (let seed = 0; seed < 4_000; seed++) {
      const clients = 2 + random.below(3);
      const answers = madeAnswers({ seed, clients, operations: 6, unknown: 0.2, verbs: VERBS });
      if (random.below(5) > 0) spoil(answers, random.below(answers.length), random.below(answers.length));
      const expected = hasOrder(answers);
      found[expected ? 'right' : 'wrong']++;
      const { result } = searchOrder(answers);
      if ((result === 'linearizable') !== expected) {
        throw new Error(
          `${String(expected)}, but the search says ${result}: ${JSON.stringify(answers, null, 1)}`,
        );
      }
    }
    expect(found.right).toBeGreaterThan(500);
    expect(found.wrong).toBeGreaterThan(500);
  });

  test('gives up when it is to look at less than it needs, and says so', () => {
    const answers = madeAnswers({ seed: 1, clients: 12, operations: 100, unknown: 0.1, verbs: VERBS });
    expect(searchOrder(answers, undefined, 10).result).toBe('undecided');
  });
});

const VERBS: readonly (readonly [number, ObjectVerb])[] = [
  [8, 'create'],
  [5, 'update'],
  [5, 'guarded update'],
  [4, 'apply'],
  [6, 'delete'],
  [2, 'deletecollection'],
  [8, 'get'],
];

/** Changes one answer to the version of another, or to not found. */
function spoil(answers: ObjectOperation[], one: number, other: number): void {
  const [a, b] = [answers[one], answers[other]];
  if (a === undefined || b === undefined || a.outcome === 'unknown') return;
  const { verb, key, replica, turn, invokedMs, returnedMs } = a;
  answers[one] =
    one < other || verb === 'deletecollection'
      ? { ...a, invokedMs: b.invokedMs, returnedMs: Math.max(returnedMs, b.invokedMs) }
      : { verb, key, replica, turn, invokedMs, returnedMs, outcome: 'absent' };
}

describe('answers of one object that no order explains', () => {
  test.each<[string, readonly Recorded[]]>([
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
  ])('%s', (_what, recorded) => {
    const { result, stuckAt } = searchOrder(history(...recorded));
    expect(result).toBe('not linearizable');
    expect(stuckAt).not.toEqual([]);
  });
});

describe('deletions of one object that are under way together', () => {
  const deletions = (key: string, count: number): readonly ObjectOperation[] =>
    history(
      CREATED,
      ...Array.from({ length: count }, (_, at): Recorded => ({
        verb: 'delete',
        invokedMs: 2 + at,
        returnedMs: 9,
      })),
    ).map((each) => ({ ...each, key }));

  test.each([
    ['pods/chaos-0/o0', 2, 'linearizable'],
    ['pods/chaos-0/o0', 3, 'not linearizable'],
    ['configmaps/chaos-0/o0', 1, 'linearizable'],
    ['configmaps/chaos-0/o0', 2, 'not linearizable'],
  ])('of %s, %d are done: %s', (key, count, result) => {
    expect(searchOrder(deletions(key, count)).result).toBe(result);
  });

  test('one after the other has ended, a pod is gone', () => {
    const [created, first] = deletions('pods/chaos-0/o0', 1);
    const late = { ...first, invokedMs: 10, returnedMs: 11 } as ObjectOperation;
    expect(searchOrder([created, first, late] as ObjectOperation[]).result).toBe('not linearizable');
  });
});
