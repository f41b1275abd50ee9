import type { SeenObject, ChangeType } from './journal';
import { Journal } from './journal';
import { RevisionSet } from './revision-set';
import { createRandom } from './seeded-random';

const BASE = 100;

function object(version: number, uid = 'a'): SeenObject {
  return { metadata: { name: `of-${uid}`, uid, resourceVersion: String(version) } };
}

function complaintsOf(...events: readonly (readonly [ChangeType, number, string?])[]): readonly string[] {
  const journal = new Journal(BASE);
  for (const [type, version, uid] of events) journal.observe(type, object(version, uid), false);
  return journal.complaints;
}

describe('the journal of an informer', () => {
  test('reports no fault for objects that are created, updated, deleted and created again', () => {
    expect(complaintsOf(['add', 101], ['update', 105], ['delete', 107], ['add', 109, 'b'])).toEqual([]);
  });

  test.each([
    [
      'goes back',
      [
        ['add', 101],
        ['update', 105],
        ['update', 103],
      ],
    ],
    [
      'gets an event twice',
      [
        ['add', 101],
        ['update', 101],
      ],
    ],
    [
      'is added twice',
      [
        ['add', 101],
        ['add', 102],
      ],
    ],
    ['changes before it is there', [['update', 101]]],
    ['goes before it is there', [['delete', 101]]],
    [
      'gets an event after the deletion',
      [
        ['add', 101],
        ['delete', 103],
        ['add', 101, 'b'],
      ],
    ],
  ] as const)('complains when an object %s', (_what, events) => {
    expect(complaintsOf(...events)).not.toEqual([]);
  });

  test('accepts that a list removes a last known state, and records the versions that the list took over', () => {
    const journal = new Journal(BASE);
    journal.listed('100');
    journal.observe('add', object(101), false);
    journal.listed('110');
    journal.observe('delete', object(101), true);
    expect(journal.complaints).toEqual([]);
    expect(journal.relists).toEqual([{ from: 101, to: 110 }]);
  });

  test('accepts an update with a new uid from a list, and from no watch', () => {
    const madeAgain = { metadata: { name: 'of-a', uid: 'b', resourceVersion: '109' } };
    const journal = new Journal(BASE);
    journal.observe('add', object(101), false);
    journal.observe('update', madeAgain, true);
    journal.observe('delete', { metadata: { ...madeAgain.metadata, resourceVersion: '111' } }, false);
    expect(journal.complaints).toEqual([]);
    journal.observe('update', object(113, 'c'), true);
    expect(journal.complaints).toHaveLength(1);
    const live = new Journal(BASE);
    live.observe('add', object(101), false);
    live.observe('update', madeAgain, false);
    expect(live.complaints).toHaveLength(1);
  });

  test('reports a watch that repeats events or starts before its version', () => {
    const journal = new Journal(BASE);
    const check = journal.watch('105');
    check('ADDED', object(106));
    check('BOOKMARK', object(106));
    expect(journal.complaints).toEqual([]);
    check('MODIFIED', object(106));
    journal.watch('110')('ADDED', object(110));
    expect(journal.complaints).toHaveLength(2);
  });
});

test('a revision set returns its revisions, round-trips as text, and reports new revisions', () => {
  const random = createRandom(7);
  const revisions = new Set(Array.from({ length: 5_000 }, () => BASE + 1 + random.below(100_000)));
  const set = new RevisionSet(BASE);
  for (const each of revisions) expect(set.add(each)).toBe(true);
  for (const each of revisions) expect(set.add(each)).toBe(false);
  const read = RevisionSet.from(BASE, set.toString());
  expect([...read.members()]).toEqual([...revisions].sort((a, b) => a - b));
  expect([read.size, read.newest]).toEqual([set.size, Math.max(...revisions)]);
});

test('a seed repeats its numbers, and choices follow their weights', () => {
  const [one, other] = [createRandom(3), createRandom(3)];
  const drawn = Array.from({ length: 10_000 }, () =>
    one.weighted([
      [3, 'often'],
      [1, 'seldom'],
    ]),
  );
  expect(
    Array.from({ length: 10_000 }, () =>
      other.weighted([
        [3, 'often'],
        [1, 'seldom'],
      ]),
    ),
  ).toEqual(drawn);
  const often = drawn.filter((each) => each === 'often').length;
  expect(often).toBeGreaterThan(7_300);
  expect(often).toBeLessThan(7_700);
});
