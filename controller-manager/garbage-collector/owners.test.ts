import { AbsentOwners } from './owners';

const owner = (uid: string) => ({ group: '', kind: 'Pod', namespace: 'team', name: 'p', uid });

test('when more absent owners than the limit are remembered, the oldest is forgotten', () => {
  const absent = new AbsentOwners();
  for (let index = 0; index < 10_000; index += 1) absent.add(owner(String(index)));
  absent.add(owner('0'));
  absent.add(owner('one more'));
  const known = ['0', '1', '2', 'one more'].map((uid) => absent.has(owner(uid)));
  expect(known).toEqual([true, false, true, true]);
});

test('a confirmed absence is valid for a minute', () => {
  let nowMs = 5_000;
  const absent = new AbsentOwners({ now: () => nowMs });
  absent.add(owner('u'));
  nowMs += 60_000;
  expect(absent.has(owner('u'))).toBe(true);
  nowMs += 1;
  expect(absent.has(owner('u'))).toBe(false);
  absent.add(owner('u'));
  expect(absent.has(owner('u'))).toBe(true);
});
