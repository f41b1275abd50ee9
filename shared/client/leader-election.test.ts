import type { Lease } from '../api/types/coordination-v1';
import { setTimeout as delay } from 'node:timers/promises';
import { PATIENCE_MS } from '../testing/eventually';

import { createClient } from './client';
import type { LeaderElectionOptions } from './leader-election';
import { runWithLeadership } from './leader-election';
import type { FakeApiServer } from './testing/fake-api-server';
import { createFakeApiServer } from './testing/fake-api-server';
import { LEASES, NAMESPACES } from './testing/fake-resources';

const lease = { namespace: 'system', name: 'controllers' };
/** Long enough that a slow machine loses no lease. */
const LASTING = { leaseDurationMs: PATIENCE_MS, renewDeadlineMs: PATIENCE_MS / 2, retryPeriodMs: 40 };
/** For leases that are to be lost or to expire. */
const SHORT = { leaseDurationMs: 1_000, renewDeadlineMs: 400 };

let server: FakeApiServer;
beforeEach(async () => {
  server = await createFakeApiServer();
  server.store.create(
    { resource: NAMESPACES, namespace: '', name: 'system' },
    { metadata: { name: 'system' } },
  );
});
afterEach(async () => server.close());

const work = async (): Promise<void> => Promise.resolve();

function electionOf(identity: string, more: Partial<LeaderElectionOptions> = {}): LeaderElectionOptions {
  return { client: createClient({ server: server.url }), lease, identity, ...LASTING, ...more };
}

function leaseNow(): Lease | undefined {
  return server.store.find({ resource: LEASES, ...lease }) as Lease | undefined;
}

async function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}

/** A candidate, with promises of its leadership and its end. */
function candidate(identity: string, more: Partial<LeaderElectionOptions> = {}) {
  const stop = new AbortController();
  const leads = new AbortController();
  const ended = runWithLeadership(
    electionOf(identity, more),
    async (signal) => {
      leads.abort();
      await aborted(signal);
    },
    stop.signal,
  );
  return { leading: aborted(leads.signal), ended, stop: () => stop.abort(new Error('stop')) };
}

test('the first candidate creates the lease, and releases it when it stops', async () => {
  const a = candidate('a');
  await a.leading;
  expect(leaseNow()?.spec).toMatchObject({
    holderIdentity: 'a',
    leaseDurationSeconds: PATIENCE_MS / 1_000,
    leaseTransitions: 0,
  });
  expect(leaseNow()?.spec?.renewTime).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
  a.stop();
  expect(await a.ended).toBe('stopped');
  expect(leaseNow()?.spec).toMatchObject({ holderIdentity: '', leaseDurationSeconds: 1 });
});

test('a released lease is taken over at once, and the transition is counted', async () => {
  const a = candidate('a');
  await a.leading;
  const b = candidate('b');
  a.stop();
  await a.ended;
  await b.leading;
  expect(leaseNow()?.spec).toMatchObject({ holderIdentity: 'b', leaseTransitions: 1 });
  b.stop();
  await b.ended;
});

test('the lease is released only after the work has ended', async () => {
  const stop = new AbortController();
  const holders: unknown[] = [];
  const ended = runWithLeadership(
    electionOf('a'),
    async (signal) => {
      stop.abort(new Error('stop'));
      await aborted(signal);
      await delay(60);
      holders.push(leaseNow()?.spec?.holderIdentity);
    },
    stop.signal,
  );
  expect(await ended).toBe('stopped');
  expect([...holders, leaseNow()?.spec?.holderIdentity]).toEqual(['a', '']);
});

test('work that does not stop in time keeps the lease from being released', async () => {
  const stop = new AbortController();
  const ended = runWithLeadership(
    electionOf('a', { stopTimeoutMs: 20 }),
    async () => {
      stop.abort(new Error('stop'));
      await new Promise(() => undefined);
    },
    stop.signal,
  );
  expect(await ended).toBe('stopped');
  expect(leaseNow()?.spec?.holderIdentity).toBe('a');
});

test('failing work releases the lease and its error is rethrown; work that returns ends the leadership', async () => {
  const never = new AbortController().signal;
  const failing = runWithLeadership(electionOf('a'), async () => Promise.reject(new Error('boom')), never);
  await expect(failing).rejects.toThrow('boom');
  expect(leaseNow()?.spec?.holderIdentity).toBe('');
  expect(await runWithLeadership(electionOf('a'), async () => Promise.resolve(), never)).toBe('ended');
});

test('a leader that cannot renew stops before another may lead', async () => {
  let cutOff = false;
  server.fault = ({ headers }) => (cutOff && headers['user-agent'] === 'a' ? 'cut' : undefined);
  const client = createClient({ server: server.url, userAgent: 'a' });
  const order: string[] = [];
  const a = candidate('a', { client, ...SHORT });
  await a.leading;
  cutOff = true;
  const aEnded = a.ended.then((end) => {
    order.push('a has stopped');
    return end;
  });
  const b = candidate('b', SHORT);
  await b.leading;
  order.push('b leads');
  expect(await aEnded).toBe('lost');
  expect(order).toEqual(['a has stopped', 'b leads']);
  expect(leaseNow()?.spec).toMatchObject({ holderIdentity: 'b', leaseTransitions: 1 });
  b.stop();
  await b.ended;
});

test('a leader that sees another holder stops at once', async () => {
  const a = candidate('a');
  await a.leading;
  const current = leaseNow() as Lease;
  const { resourceVersion: _version, ...metadata } = current.metadata;
  server.store.update(
    { resource: LEASES, ...lease },
    {
      ...current,
      metadata,
      spec: { ...current.spec, holderIdentity: 'thief', leaseDurationSeconds: 60 },
    },
  );
  expect(await a.ended).toBe('lost');
  expect(leaseNow()?.spec?.holderIdentity).toBe('thief');
});

test('times written by others are ignored: only a lease that does not change is taken over', async () => {
  const renewed = { renewTime: '1999-01-01T00:00:00.000000Z', leaseDurationSeconds: 1 };
  const place = { resource: LEASES, ...lease };
  server.store.create(place, { metadata: lease, spec: { holderIdentity: 'slow clock', ...renewed } });
  let renewals = 0;
  server.fault = ({ method, path }) => {
    if (method === 'GET' && path.endsWith('/controllers') && renewals < 4) {
      renewals += 1;
      const { resourceVersion: _version, ...metadata } = server.store.get(place).metadata;
      server.store.update(place, {
        ...server.store.get(place),
        metadata: { ...metadata, annotations: { renewals: String(renewals) } },
      });
    }
    return undefined;
  };
  const b = candidate('b', { ...SHORT, retryPeriodMs: 100 });
  await b.leading;
  expect(renewals).toBe(4);
  expect(leaseNow()?.spec?.leaseTransitions).toBe(1);
  b.stop();
  await b.ended;
});

test('of candidates that race for one lease through faults, never two lead at once', async () => {
  let requests = 0;
  server.fault = ({ method }) => {
    requests += 1;
    if (requests % 17 === 0) return 'cut';
    return method === 'PUT' && requests % 11 === 0 ? 'cutAfter' : undefined;
  };
  const stop = new AbortController();
  const leaders: string[] = [];
  const leading = new Set<string>();
  const candidates = ['a', 'b', 'c', 'd'].map(async (identity) => {
    while (!stop.signal.aborted) {
      await runWithLeadership(
        electionOf(identity, { leaseDurationMs: 1_000, renewDeadlineMs: 200, retryPeriodMs: 5 }),
        async (signal) => {
          expect(leading.size).toBe(0);
          leading.add(identity);
          leaders.push(identity);
          if (leaders.length >= 20) stop.abort(new Error('enough'));
          // Every second leader stays for some renewals.
          for (let turn = 0; turn < leaders.length % 2 && !signal.aborted; turn += 1) {
            await delay(30);
          }
          leading.delete(identity);
        },
        stop.signal,
      );
    }
  });
  await Promise.all(candidates);
  expect(leaders.length).toBeGreaterThanOrEqual(20);
  expect(new Set(leaders).size).toBeGreaterThan(1);
});

test('timings that could let two lead are refused', async () => {
  const never = new AbortController().signal;
  const same = electionOf('a', { leaseDurationMs: 400, renewDeadlineMs: 400 });
  await expect(runWithLeadership(same, work, never)).rejects.toThrow(/lease duration/);
  const slow = electionOf('a', { ...SHORT, retryPeriodMs: 350 });
  await expect(runWithLeadership(slow, work, never)).rejects.toThrow(/renew deadline/);
});
