import { createClient } from '../shared/client/client';
import type { FakeApiServer } from '../shared/client/testing/fake-api-server';
import { createFakeApiServer } from '../shared/client/testing/fake-api-server';
import { LEASES, NAMESPACES } from '../shared/client/testing/fake-resources';
import { silentLog } from '../shared/log/log';
import { PATIENCE_MS } from '../shared/testing/eventually';
import type { Controller } from './runtime/controller';
import { selectControllers } from './controllers';
import type { RunOptions } from './run';
import { runControllerManager } from './run';
import { createMetrics } from './runtime/serving/metrics';

const lease = { namespace: 'system', name: 'controllers' };
/** Long enough that a slow machine does not lose the lease. */
const election = {
  lease,
  leaseDurationMs: PATIENCE_MS,
  renewDeadlineMs: PATIENCE_MS / 2,
  retryPeriodMs: 40,
};

let server: FakeApiServer;
beforeEach(async () => {
  server = await createFakeApiServer();
  server.store.create(
    { resource: NAMESPACES, namespace: '', name: 'system' },
    { metadata: { name: 'system' } },
  );
});
afterEach(async () => server.close());

/** A controller that logs its start and end and does nothing in between. */
function idle(log: string[], name: string, onStart: () => void = () => undefined): Controller {
  return {
    name,
    account: name,
    run: async (_context, signal) => {
      log.push(`${name} starts`);
      onStart();
      if (!signal.aborted) {
        await new Promise<void>((resolve) =>
          signal.addEventListener('abort', () => resolve(), { once: true }),
        );
      }
      log.push(`${name} ends`);
    },
  };
}

function optionsOf(controllers: readonly Controller[], more: Partial<RunOptions> = {}): RunOptions {
  return {
    client: createClient({ server: server.url }),
    log: silentLog,
    metrics: createMetrics({ process: false }),
    controllers,
    controllerOptions: { concurrentNamespaceSyncs: 1, namespaceSyncPeriodMs: 1_000, concurrentGcSyncs: 1 },
    election,
    ...more,
  };
}

test('it waits for the API server, and stops while waiting', async () => {
  server.fault = () => 'cut';
  const logged: string[] = [];
  const stop = new AbortController();
  const log = {
    ...silentLog,
    info: (_fields: object, message: string): void => {
      logged.push(message);
      stop.abort(new Error('stop'));
    },
  };
  expect(await runControllerManager(optionsOf([], { log }), stop.signal)).toBe('stopped');
  expect(logged).toEqual(['waiting for the API server']);
});

test('one of two leads; when it stops, its controllers end, the lease is released and the other takes over', async () => {
  const log: string[] = [];
  const [stopA, stopB] = [new AbortController(), new AbortController()];
  const a = runControllerManager(
    optionsOf([
      idle(log, 'a1'),
      idle(log, 'a2', () => {
        stopA.abort(new Error('stop'));
      }),
    ]),
    stopA.signal,
  );
  expect(await a).toBe('stopped');
  expect(server.store.get({ resource: LEASES, ...lease })['spec']).toMatchObject({ holderIdentity: '' });
  await runControllerManager(optionsOf([idle(log, 'b', () => stopB.abort(new Error('stop')))]), stopB.signal);
  expect(log.slice(0, 4).toSorted()).toEqual(['a1 ends', 'a1 starts', 'a2 ends', 'a2 starts']);
  expect(log.slice(4)).toEqual(['b starts', 'b ends']);
});

test('losing the lease ends the controllers and is reported', async () => {
  const log: string[] = [];
  const controller = idle(log, 'a', () => {
    server.fault = () => 'cut';
  });
  const options = optionsOf([controller], {
    election: { ...election, leaseDurationMs: 1_000, renewDeadlineMs: 400 },
  });
  expect(await runControllerManager(options, new AbortController().signal)).toBe('lost');
  expect(log).toEqual(['a starts', 'a ends']);
});

test('its metrics report leadership and the queues of its controllers', async () => {
  const metrics = createMetrics({ process: false });
  const status = async (): Promise<string | undefined> =>
    /leader_election_master_status\{name="controllers"\} (\d)/.exec(String(await metrics.exposition()))?.[1];
  let whileLeading: string | undefined;
  const controller: Controller = {
    name: 'counting',
    account: 'counting',
    run: async ({ createQueue }) => {
      whileLeading = await status();
      createQueue().add('x');
      stop.abort(new Error('stop'));
    },
  };
  const stop = new AbortController();
  const run = runControllerManager(optionsOf([controller], { metrics }), stop.signal);
  expect(await status()).toBe('0');
  await run;
  expect(whileLeading).toBe('1');
  expect(await status()).toBe('0');
  expect(String(await metrics.exposition())).toContain('workqueue_adds_total{name="counting"} 1\n');
});

test('a controller that throws stops the others, and its error is rethrown', async () => {
  const log: string[] = [];
  const broken: Controller = {
    name: 'broken',
    account: 'broken',
    run: async () => Promise.reject(new Error('defect')),
  };
  const run = runControllerManager(optionsOf([idle(log, 'a'), broken]), new AbortController().signal);
  await expect(run).rejects.toThrow('defect');
  expect(log).toEqual(['a starts', 'a ends']);
});

test('without leader election it works at once and touches no lease', async () => {
  const stop = new AbortController();
  const controller = idle([], 'a', () => stop.abort(new Error('stop')));
  expect(await runControllerManager(optionsOf([controller], { election: undefined }), stop.signal)).toBe(
    'stopped',
  );
  expect(server.seen.map(({ path }) => path)).toEqual(['/readyz']);
});

test.each([
  [['*'], ['a', 'b']],
  [['*', '-a'], ['b']],
  [['a'], ['a']],
  [['-a'], []],
  [['-a', 'a', '*'], ['b']],
  [['a', '-a'], ['a']],
  [
    ['*', 'seldom'],
    ['a', 'b', 'seldom'],
  ],
  [['seldom'], ['seldom']],
  [['-seldom', 'b'], ['b']],
])('--controllers=%j runs %j', (words, expected) => {
  const seldom: Controller = { ...idle([], 'seldom'), isOffByDefault: true };
  const { selected, unknown } = selectControllers(words, [idle([], 'a'), idle([], 'b'), seldom]);
  expect(selected.map(({ name }) => name)).toEqual(expected);
  expect(unknown).toEqual([]);
});

test('controllers of bootstrap tokens run only when named', () => {
  const names = (...words: readonly string[]) => selectControllers(words).selected.map(({ name }) => name);
  expect(names('*')).toContain('csrsigning');
  expect(names('*')).not.toContain('tokencleaner');
  expect(names('*')).not.toContain('bootstrapsigner');
  expect(names('*', 'tokencleaner')).toEqual([...names('*'), 'tokencleaner']);
  expect(names('bootstrapsigner')).toEqual(['bootstrapsigner']);
});

test('an unknown controller is reported', () => {
  expect(selectControllers(['*', '-missing']).unknown).toEqual(['-missing']);
});
