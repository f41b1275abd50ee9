import type { SharedLimit } from '../../../../shared/concurrency/shared-limit';
import { GROUP } from '../../../../shared/names';
import type { AdmissionAttributes } from '../../../engine/registry/admission';
import { eventRateLimit, eventRateLimitProblem } from './event-rate-limit';
import type { GivenWrite } from '../testing/plugin-bench';
import { attributesOf, outcomeOf, resultOf } from '../testing/plugin-bench';

let nowMs = 0;
const divided: SharedLimit[] = [];
const context = {
  clock: { now: () => nowMs },
  registerSharedLimit: (limit: SharedLimit): void => void divided.push(limit),
};
beforeEach(() => {
  nowMs = 0;
  divided.length = 0;
});

const pluginOf = (...limits: readonly object[]) => eventRateLimit({ limits }, context);
const eventOf = (more: GivenWrite = {}, name = 'p') =>
  attributesOf('v1/events', {
    object: { metadata: { name: 'e' }, involvedObject: { kind: 'Pod', name }, source: { component: 'c' } },
    ...more,
  });

async function results(plugin: ReturnType<typeof pluginOf>, ...events: readonly AdmissionAttributes[]) {
  const found: string[] = [];
  for (const event of events) found.push(resultOf(await outcomeOf(plugin, event)));
  return found;
}

test('a burst is admitted, then the steady rate', async () => {
  const plugin = pluginOf({ type: 'Server', qps: 2, burst: 3 });
  const refused = '429 Too many requests: limit reached on type Server for key ';
  expect(await results(plugin, eventOf(), eventOf(), eventOf(), eventOf())).toEqual([
    'admitted',
    'admitted',
    'admitted',
    refused,
  ]);
  nowMs = 500;
  expect(await results(plugin, eventOf(), eventOf())).toEqual(['admitted', refused]);
  nowMs = 60_000;
  expect(
    (await results(plugin, ...Array.from({ length: 5 }, () => eventOf()))).filter(
      (each) => each === 'admitted',
    ),
  ).toHaveLength(3);
});

test.each([
  ['Namespace', eventOf({ namespace: 'b' })],
  ['User', eventOf({ user: { name: 'john', uid: '', groups: [], extra: {} } })],
  ['SourceAndObject', eventOf({}, 'q')],
])('under %s another one has a budget of its own', async (type, other) => {
  const plugin = pluginOf({ type, qps: 1, burst: 1 });
  expect(await results(plugin, eventOf(), eventOf(), other)).toEqual([
    'admitted',
    expect.stringContaining(`limit reached on type ${type}`) as string,
    'admitted',
  ]);
});

test('the least recently used budget is dropped', async () => {
  const plugin = pluginOf({ type: 'Namespace', qps: 1, burst: 1, cacheSize: 1 });
  const [a, b] = [eventOf({ namespace: 'a' }), eventOf({ namespace: 'b' })];
  expect(await results(plugin, a, b, a)).toEqual(['admitted', 'admitted', 'admitted']);
});

test('dry runs cost nothing', async () => {
  const plugin = pluginOf({ type: 'Server', qps: 1, burst: 1 });
  expect(await results(plugin, eventOf({ dryRun: true }), eventOf(), eventOf())).toEqual([
    'admitted',
    'admitted',
    expect.stringContaining('429') as string,
  ]);
});

test('events of the newer group are not limited', () => {
  const { concerns } = pluginOf({ type: 'Server', qps: 1, burst: 1 });
  const subject = { resource: 'events', subresource: '', operation: 'CREATE', namespaced: true } as const;
  expect(concerns({ ...subject, group: GROUP.events })).toBe(false);
  expect(concerns({ ...subject, group: GROUP.core })).toBe(true);
});

test.each([
  [undefined, 'at least one limit'],
  [{ limits: [{ type: 'Nope', qps: 1, burst: 1 }] }, 'a type must be one of Server, Namespace'],
  [{ limits: [{ type: 'Server', qps: 0, burst: 1 }] }, 'qps and burst must be more than 0'],
  [{ limits: [{ type: 'Server', qps: 1, burst: 1, cacheSize: -1 }] }, 'cacheSize must be more than 0'],
])('%j is refused', (configuration, problem) => {
  expect(eventRateLimitProblem(configuration)).toContain(problem);
  expect(() => eventRateLimit(configuration, context)).toThrow(problem);
});

test('every exceeded limit is reported', async () => {
  const plugin = pluginOf({ type: 'Server', qps: 1, burst: 1 }, { type: 'User', qps: 1, burst: 1 });
  expect(await results(plugin, eventOf(), eventOf())).toEqual([
    'admitted',
    '429 Too many requests: [limit reached on type Server for key , limit reached on type User for key jane]',
  ]);
});

test('a key that is too long is kept as a digest', async () => {
  const plugin = pluginOf({ type: 'SourceAndObject', qps: 1, burst: 1 });
  const name = 'x'.repeat(100_000);
  const [first, second, other] = await results(
    plugin,
    eventOf({}, name),
    eventOf({}, name),
    eventOf({}, `${name}y`),
  );
  expect([first, other]).toEqual(['admitted', 'admitted']);
  expect(second).toMatch(/^429 .* for key [0-9a-f]{64}$/);
});

test("a shared budget is reduced to this replica's share, and other replicas see only digests of keys", async () => {
  const plugin = pluginOf({ type: 'Namespace', qps: 8, burst: 8 });
  const admitted = async (count: number): Promise<number> => {
    const all = await results(
      plugin,
      ...Array.from({ length: count }, () => eventOf({ namespace: 'secret' })),
    );
    return all.filter((each) => each === 'admitted').length;
  };
  expect(await admitted(10)).toBe(8);
  const [limit] = divided;
  const demands = [...(limit?.takeDemands() ?? [])];
  expect(demands).toEqual([[expect.not.stringContaining('secret'), 10]]);
  limit?.divide(new Map([[demands[0]?.[0] ?? '', 0.25]]), 0.5);
  nowMs += 60_000;
  expect(await admitted(10)).toBe(2);
  nowMs += 500;
  expect(await admitted(10)).toBe(1);
  // A budget that is not named gets an even share.
  limit?.divide(new Map(), 0.5);
  nowMs += 60_000;
  expect(await admitted(10)).toBe(4);
  expect([...(limit?.takeDemands() ?? [])].map(([, asked]) => asked)).toEqual([30]);
  expect([...(limit?.takeDemands() ?? [])]).toEqual([]);
});
