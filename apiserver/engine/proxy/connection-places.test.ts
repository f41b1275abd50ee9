import { SERVICE_ACCOUNT, USER_GROUP } from '../../../shared/names';
import { NO_USER } from '../request/initial-values';
import type { TestExchange } from '../request/testing/new-exchange';
import { newExchange } from '../request/testing/new-exchange';
import { ConnectionPlaces } from './connection-places';
import { connectionsMax } from './limits';

function exchangeOf(name: string): TestExchange {
  const groups = name === 'admin' ? [USER_GROUP.masters] : [];
  return newExchange({ user: { ...NO_USER, name, groups } });
}

/** Takes places for a user; returns the requests that have one. */
function taking(
  places: ConnectionPlaces,
): (name: string, count: number, purpose?: 'aggregation') => TestExchange[] {
  return (name, count, purpose) =>
    Array.from({ length: count }, () => exchangeOf(name)).filter((each) =>
      places.take(each, purpose ?? 'proxy'),
    );
}

test('a holder has a quarter of the places, whatever accounts of its namespace it uses', () => {
  const places = new ConnectionPlaces(40);
  const take = taking(places);
  const account = (name: string): string => `${SERVICE_ACCOUNT.userPrefix}tenant:${name}`;
  const [first] = take(account('a'), 6);
  expect([take(account('b'), 6).length, places.taken]).toEqual([4, 10]);
  expect(take('admin', 12)).toHaveLength(12);
  first?.end();
  expect([take(account('b'), 2).length, places.taken]).toEqual([1, 22]);
});

test('an eighth of the places is for extension API servers', () => {
  const places = new ConnectionPlaces(40);
  const take = taking(places);
  for (const name of ['a', 'b', 'c']) expect(take(name, 10)).toHaveLength(10);
  // The fair share of each of four is 35 / 4: the last one gets places of the others up to that.
  expect([take('d', 10).length, places.taken]).toEqual([9, 35]);
  expect(take('d', 1, 'aggregation')).toHaveLength(1);
});

test('a holder below its fair share gets a place of the largest holder', () => {
  const places = new ConnectionPlaces(40);
  const take = taking(places);
  const taken = ['a', 'b', 'c', 'd'].flatMap((name) => take(name, 10));
  const before = taken.filter(({ signal }) => signal.aborted).length;
  expect(take('e', 3)).toHaveLength(3);
  const cut = taken.filter(({ signal }) => signal.aborted);
  expect([cut.length - before, places.taken]).toEqual([3, 35]);
  expect(cut.map(({ signal }) => String(signal.reason))).toContain(
    'StatusError: too many proxied connections',
  );
  for (const each of taken) each.end();
  expect(places.taken).toBe(3);
});

test('a small process has fewer places', () => {
  const MB = 1_024 * 1_024;
  expect([1, 512, 4_096].map((megabytes) => connectionsMax(megabytes * MB, 20_000))).toEqual([
    256, 2_730, 10_000,
  ]);
  expect([connectionsMax(Infinity, 384), connectionsMax(1, 64)]).toEqual([384, 64]);
});
