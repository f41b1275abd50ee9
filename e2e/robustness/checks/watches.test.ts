import type { SegmentEvent, WatchSegment } from '../record/operation';
import { madeHistory } from '../testing/hand-made';
import { checkWatches } from './watches';

const HISTORY = madeHistory(
  [101, 'configmaps/chaos-0/a', '1', 'left'],
  [102, 'configmaps/chaos-0/b', '2', 'left'],
  [103, 'configmaps/chaos-0/a', '3', 'right'],
  [104, 'secrets/chaos-1/s', '4'],
  [105, 'configmaps/chaos-0/b'],
);

function event(type: SegmentEvent['type'], name: string, version: number, turn = ''): SegmentEvent {
  return { type, key: name === '' ? '' : `chaos-0/${name}`, version, turn };
}

const A1 = event('ADDED', 'a', 101, '1');
const B2 = event('ADDED', 'b', 102, '2');
const A3 = event('MODIFIED', 'a', 103, '3');
const B5 = event('DELETED', 'b', 105, '2');

function bookmark(version: number): SegmentEvent {
  return event('BOOKMARK', '', version);
}

function checksOf(events: readonly SegmentEvent[], given: Partial<WatchSegment> = {}): readonly string[] {
  const segment: WatchSegment = {
    watcher: 'a watcher',
    view: 'configmaps',
    replica: 0,
    from: 100,
    events,
    end: 'closed',
    ...given,
  };
  return [...new Set(checkWatches([segment], HISTORY).map(({ check }) => check))];
}

test.each<[string, readonly SegmentEvent[], Partial<WatchSegment>]>([
  ['everything', [A1, B2, A3, B5], {}],
  ['everything up to its end', [A1, B2], {}],
  ['what came after its version', [A3, B5], { from: 102 }],
  ['bookmarks between', [bookmark(100), A1, B2, bookmark(102), A3, bookmark(104), B5], {}],
  [
    'what enters and leaves what its selector selects',
    [A1, B2, event('DELETED', 'a', 103, '1'), B5],
    { view: 'configmaps left' },
  ],
  [
    'the state first',
    [A3],
    {
      from: 102,
      initial: [
        { key: 'chaos-0/a', version: 101, turn: '1' },
        { key: 'chaos-0/b', version: 102, turn: '2' },
      ],
    },
  ],
])('a watch that tells %s is right', (_what, events, given) => {
  expect(checksOf(events, given)).toEqual([]);
});

test.each<[string, readonly SegmentEvent[], Partial<WatchSegment>, string]>([
  ['leaves an event out', [A1, A3], {}, 'watch complete'],
  ['leaves the first one out', [B2], {}, 'watch complete'],
  ['leaves a deletion out, and says so by a bookmark', [A1, B2, A3, bookmark(105)], {}, 'bookmarks true'],
  ['tells an event twice', [A1, B2, B2], {}, 'watch unique'],
  ['tells what came before', [A1, B2, A3], { from: 101 }, 'watch in order'],
  ['tells two in the wrong order', [B2, A1, A3], {}, 'watch in order'],
  ['tells an event after the bookmark of it', [A1, bookmark(102), B2], {}, 'bookmarks true'],
  ['has a bookmark of the future', [A1, B2, A3, B5, bookmark(300)], {}, 'bookmarks true'],
  ['has a bookmark that goes back', [A1, B2, bookmark(101)], {}, 'bookmarks true'],
  ['invents an event', [A1, B2, event('MODIFIED', 'b', 103, 'x'), A3], {}, 'watch true to the store'],
  ['tells another object', [event('ADDED', 'a', 101, 'x')], {}, 'watch true to the store'],
  ['tells another kind of event', [event('MODIFIED', 'a', 101, '1')], {}, 'watch true to the store'],
  ['begins with another state', [A3], { from: 102, initial: [] }, 'list is one snapshot'],
])('a watch that %s is found', (_what, events, given, check) => {
  expect(checksOf(events, given)).toContain(check);
});
