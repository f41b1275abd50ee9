import { NAMESPACE, SERVICE_ACCOUNT, USER_GROUP } from '../../../shared/names';
import { NO_USER } from '../request/initial-values';
import { newExchange } from '../request/testing/new-exchange';
import type { Job, LaneLimits } from './lane';
import { flowOf, Lane } from './lane';

const LIMITS: LaneLimits = {
  runningMax: 2,
  waitingMax: 6,
  waitingOfFlowMax: 4,
  bytesMax: 100,
  bytesOfFlowMax: 60,
};

interface NamedJob extends Job {
  readonly name: string;
}

function job(flow: string, name: string, bytes = 1): NamedJob {
  return { exchange: newExchange(), flow, name, bytes, reject: () => undefined };
}

/** Runs all waiting jobs one after another. */
function drain(lane: Lane<NamedJob>): string[] {
  const names: string[] = [];
  for (let next = lane.take(); next !== undefined; next = lane.take()) {
    names.push(next.name);
    lane.ended(next);
  }
  return names;
}

test('flows take turns in any order of arrival, and each has one running job', () => {
  const lane = new Lane<NamedJob>(LIMITS);
  for (const name of ['a1', 'a2', 'a3']) expect(lane.add(job('a', name))).toBeUndefined();
  for (const name of ['b1', 'b2']) lane.add(job('b', name));
  const [first, second] = [lane.take(), lane.take()];
  expect([first?.name, second?.name, lane.take(), lane.running]).toEqual(['a1', 'b1', undefined, 2]);
  lane.add(job('c', 'c1'));
  if (second !== undefined) lane.ended(second);
  // The flow of `a` runs, and `b` has had its turn.
  const third = lane.take();
  expect(third?.name).toBe('b2');
  if (first !== undefined) lane.ended(first);
  if (third !== undefined) lane.ended(third);
  expect(drain(lane)).toEqual(['a2', 'c1', 'a3']);
});

test.each([
  ['by number', [1, 1, 1, 1], ['a4']],
  ['by bytes', [15, 15, 15, 15], ['a4']],
])('a full lane drops the newest job of the largest flow (%s), not the newcomer', (_how, sizes, expected) => {
  const lane = new Lane<NamedJob>(LIMITS);
  const [first = 1] = sizes;
  for (const [at, bytes] of sizes.entries()) lane.add(job('a', `a${String(at + 1)}`, bytes));
  lane.add(job('b', 'b1', first));
  const dropped = ['b2', 'c1'].map((name) => lane.add(job(name.charAt(0), name, first === 1 ? 1 : 20))?.name);
  expect(dropped.filter((name) => name !== undefined)).toEqual(expected);
  expect(drain(lane)).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3']);
});

test('a flow over its own part is refused, and a removed job makes room', () => {
  const lane = new Lane<NamedJob>(LIMITS);
  const jobs = ['a1', 'a2', 'a3', 'a4', 'a5'].map((name) => job('a', name));
  expect(jobs.map((each) => lane.add(each)?.name)).toEqual([
    undefined,
    undefined,
    undefined,
    undefined,
    'a5',
  ]);
  const [first] = jobs;
  expect(first !== undefined && lane.remove(first)).toBe(true);
  expect(first !== undefined && lane.remove(first)).toBe(false);
  expect(lane.add(job('a', 'large', 58))?.name).toBe('large');
  expect(drain(lane)).toEqual(['a2', 'a3', 'a4']);
});

test('all service accounts of a namespace are one flow, those of the control plane are not', () => {
  const flows = ['tenant:a', 'tenant:b', `${NAMESPACE.system}:a`, `${NAMESPACE.system}:b`].map((name) =>
    flowOf(newExchange({ user: { ...NO_USER, name: `${SERVICE_ACCOUNT.userPrefix}${name}` } })),
  );
  expect(new Set(flows).size).toBe(3);
  const masters = { ...NO_USER, name: 'admin', groups: [USER_GROUP.masters] };
  expect(flowOf(newExchange({ user: masters }))).toBe('admin');
});
