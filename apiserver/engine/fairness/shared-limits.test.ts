import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { freePort } from '../../../deploy/local/ports';
import { ensureServingCertificate } from '../../../shared/certs/serving-certificate';
import { openRedis } from '../../../shared/client/redis';
import { silentLog } from '../../../shared/log/log';
import { eventually } from '../../../shared/testing/eventually';
import type { SharedLimit } from '../../../shared/concurrency/shared-limit';
import { eventRateLimit } from '../../kubernetes/admission/plugins/event-rate-limit';
import { attributesOf, outcomeOf, resultOf } from '../../kubernetes/admission/testing/plugin-bench';
import { MANDATORY_FLOW_OBJECTS } from '../../kubernetes/kinds/flowcontrol/mandatory-flow';
import { FlowControl } from './fairness';
import type { Level } from './level';
import { RedisBoard } from './redis-board';
import type { DemandBoard } from './shared-limits';
import { partOf, SharedLimits } from './shared-limits';

const SEATS = 600;

function newReplica(board: DemandBoard) {
  const control = new FlowControl({
    mandatory: MANDATORY_FLOW_OBJECTS,
    seats: SEATS,
    log: silentLog,
    now: () => 0,
  });
  const level = [...control.levels].find(({ name }) => name === 'catch-all');
  if (level === undefined) throw new Error('there is no level');
  return { level, limits: new SharedLimits({ limits: [control], board, log: silentLog }), board };
}

/** Takes seats, for good. */
function use({ queues }: Level, seats: number): void {
  for (let seat = 0; seat < seats; seat += 1) queues?.tryStart([0], 1, 0);
}

const seatsOf = ({ queues }: Level): number => queues?.limits.seats ?? 0;

test('the parts of all replicas make one, busy ones have more, and none has nothing', () => {
  const own = [100, 0, 20];
  const parts = own.map((each) => partOf(each, 120, 3));
  expect(parts.reduce((sum, part) => sum + part, 0)).toBeCloseTo(1);
  expect(parts[0]).toBeGreaterThan(parts[2] ?? 0);
  expect(parts[2]).toBeGreaterThan(parts[1] ?? 0);
  expect(parts[1]).toBeGreaterThan(0.08);
  expect(partOf(7, 7, 1)).toBe(1);
  expect(partOf(0, 0, 3)).toBeCloseTo(1 / 3);
});

test('without an answer the last division stays, and no round begins before the last one is over', async () => {
  let calls = 0;
  let isAway = false;
  let answer: () => void = () => undefined;
  const { level, limits } = newReplica({
    exchange: async (own) => {
      calls += 1;
      if (isAway) throw new Error('away');
      await new Promise<void>((resolve) => {
        answer = resolve;
      });
      return { replicas: 3, byName: own };
    },
    close: () => undefined,
  });
  const round = limits.round();
  await limits.round();
  expect([calls, seatsOf(level)]).toEqual([1, SEATS]);
  answer();
  await round;
  expect(seatsOf(level)).toBe(SEATS / 3);
  isAway = true;
  await limits.round();
  expect([calls, seatsOf(level)]).toEqual([2, SEATS / 3]);
});

describe('with a Redis server over TLS', () => {
  const dir = mkdtempSync(path.join(tmpdir(), 'orch-shared-limits-'));
  const { certFile, keyFile, caFile } = ensureServingCertificate({
    dir,
    hosts: ['127.0.0.1'],
    log: silentLog,
  });
  let port = 0;
  let server: ChildProcess;
  const boards: RedisBoard[] = [];

  const newBoard = (): RedisBoard => {
    const url = `rediss://default:secret@127.0.0.1:${String(port)}`;
    const board = new RedisBoard(openRedis({ url, caFile }), '/registry:limits:');
    boards.push(board);
    return board;
  };

  const start = (): void => {
    const flags = {
      port: '0',
      'tls-port': String(port),
      'tls-cert-file': certFile,
      'tls-key-file': keyFile,
      'tls-auth-clients': 'no',
      requirepass: 'secret',
      save: '',
      dir,
    };
    const args = Object.entries(flags).flatMap(([name, value]) => [`--${name}`, value]);
    server = spawn('redis-server', args, { stdio: 'ignore' });
  };

  beforeAll(async () => {
    port = await freePort();
    start();
  });

  afterAll(() => {
    for (const board of boards) board.close();
    server.kill('SIGKILL');
    rmSync(dir, { recursive: true });
  });

  test('replicas divide the seats by what each sees, keep the division while it is away, and go on when it is back', async () => {
    const replicas = [newReplica(newBoard()), newReplica(newBoard()), newReplica(newBoard())] as const;
    const [busy, , idle] = replicas;
    const all = async (): Promise<void> => {
      for (const { limits } of replicas) await limits.round();
    };
    const sum = (): number => replicas.reduce((seats, { level }) => seats + seatsOf(level), 0);
    await eventually('all replicas know of each other', async () => {
      await all();
      // Each part is rounded up.
      return sum() <= SEATS + replicas.length;
    });
    use(busy.level, 150);
    await all();
    await all();
    expect(sum()).toBeLessThanOrEqual(SEATS + replicas.length);
    expect(seatsOf(busy.level)).toBeGreaterThan(SEATS / 2);
    expect(seatsOf(idle.level)).toBeGreaterThanOrEqual(SEATS / 12);

    const before = replicas.map(({ level }) => seatsOf(level));
    server.kill('SIGKILL');
    await eventually('the server is gone', () => server.signalCode === 'SIGKILL');
    await all();
    expect(replicas.map(({ level }) => seatsOf(level))).toEqual(before);
    start();
    await eventually('the limits are divided again', async () => {
      await all();
      return replicas.every(({ level }, at) => at > 0 || seatsOf(level) !== before[at]) || sum() <= SEATS + 3;
    });
  });

  test('the budgets of EventRateLimit are divided over it, too: all replicas together let in what one would', async () => {
    let nowMs = 0;
    const clock = { now: () => nowMs };
    const limit = { type: 'Namespace', qps: 30, burst: 30 };
    const replicas = Array.from({ length: 3 }, () => {
      const offered: SharedLimit[] = [];
      const registerSharedLimit = (each: SharedLimit): void => void offered.push(each);
      const plugin = eventRateLimit({ limits: [limit] }, { clock, registerSharedLimit });
      return { plugin, limits: new SharedLimits({ limits: offered, board: newBoard(), log: silentLog }) };
    });
    const object = { metadata: { name: 'e' }, involvedObject: { kind: 'Pod', name: 'p' } };
    const send = async (counts: readonly number[]): Promise<number> => {
      const sent = counts.flatMap((count, at) => Array.from({ length: count }, () => replicas[at]));
      const results = await Promise.all(
        sent.map(async (to) =>
          to === undefined
            ? 'none'
            : resultOf(await outcomeOf(to.plugin, attributesOf('v1/events', { object }))),
        ),
      );
      return results.filter((each) => each === 'admitted').length;
    };
    const divide = async (): Promise<void> => {
      for (let round = 0; round < 2; round += 1) {
        await send([100, 100, 10]);
        for (const { limits } of replicas) await limits.round();
      }
    };
    await eventually('all replicas know of each other', async () => {
      await divide();
      nowMs += 60_000;
      // Each part of an event is rounded.
      return (await send([100, 100, 10])) <= 30 + replicas.length;
    });
    nowMs += 60_000;
    expect(await send([100, 100, 10])).toBeGreaterThan(20);
  });

  test('one that pauses is not waited for', async () => {
    const { level, limits, board } = newReplica(newBoard());
    await eventually('it is connected', async () =>
      board.exchange(new Map()).then(
        () => true,
        () => false,
      ),
    );
    server.kill('SIGSTOP');
    await limits.round();
    expect(seatsOf(level)).toBe(SEATS);
    server.kill('SIGCONT');
  });
});
