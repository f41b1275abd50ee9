import type { LeaderNote } from '../record/operation';
import { checkLeaders } from './leaders';

function notes(text: string): readonly LeaderNote[] {
  const kinds = { E: 'elected', W: 'write', O: 'over' } as const;
  return text.split(' ').map((word, atMs) => ({
    candidate: word.slice(0, 1),
    kind: kinds[word.slice(1) as keyof typeof kinds],
    atMs,
  }));
}

test.each([
  ['one after the other', 'aE aW aW aO bE bW aE aW'],
  ['one that does not tell its end', 'aE aW bE bW bW'],
  ['one write in the moment of waking up', 'aE aW bE bW aW aO bW'],
])('leaders are right that write %s', (_what, text) => {
  expect(checkLeaders(notes(text))).toEqual([]);
});

test.each([
  ['goes on', 'aE aW bE bW aW bW aW'],
  ['never stops', 'aE aW bE aW aW aW cE aW'],
])('a leader that %s is found', (_what, text) => {
  expect(checkLeaders(notes(text)).map(({ check }) => check)).toContain('one acting leader');
});
