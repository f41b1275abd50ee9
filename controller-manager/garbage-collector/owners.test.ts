import { AbsentOwners } from './owners';

const owner = (uid: string) => ({ group: '', kind: 'Pod', namespace: 'team', name: 'p', uid });

test('of more absent owners than are remembered, the oldest is forgotten', () => {
  const absent = new AbsentOwners();
  for (let index = 0; index < 10_000; index += 1) absent.add(owner(String(index)));
  absent.add(owner('0'));
  absent.add(owner('one more'));
  const known = ['0', '1', '2', 'one more'].map((uid) => absent.has(owner(uid)));
  expect(known).toEqual([true, false, true, true]);
});

test('that an owner is absent counts for a minute after the server has said so', () => {
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
