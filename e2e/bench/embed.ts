import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { repositoryRoot } from '../../deploy/local/repository';
import type { Table } from './table';
import { milliseconds } from './table';

const ROUNDS = 5;
const MIB = 1_048_576;

/** Runs in a process of its own, as a test does, and reports each step. Wall time in milliseconds, CPU time of all threads, memory. */
const PROGRAM = `
const load = require;
const steps = {};
const timed = async (name, work) => {
  const cpu = process.cpuUsage();
  const began = performance.now();
  const result = await work();
  const { user, system } = process.cpuUsage(cpu);
  steps[name] = [performance.now() - began, (user + system) / 1000];
  return result;
};
(async () => {
  const first = await timed('import and first start', () => load(process.argv[1]).startControlPlane());
  const { startControlPlane } = load(process.argv[1]);
  const quiet = { controllers: false, listen: false };
  await (await startControlPlane(quiet)).stop();
  const second = await timed('second start, no controllers or port', () => startControlPlane(quiet));
  const headers = { 'content-type': 'application/json' };
  for (let at = 0; at < 1000; at += 1)
    await second.fetch('/api/v1/namespaces/default/configmaps', { method: 'POST', headers, body: JSON.stringify({ metadata: { name: 'c' + at } }) });
  const before = await timed('snapshot of 1,000 objects', async () => second.snapshot());
  await second.fetch('/api/v1/namespaces/default/configmaps', { method: 'DELETE' });
  await timed('restore of 1,000 objects', () => second.restore(before));
  const clone = await timed('clone of 1,000 objects', () => second.clone());
  globalThis.gc();
  const heap = process.memoryUsage.rss();
  const more = await Promise.all(Array.from({ length: 4 }, () => startControlPlane(quiet)));
  globalThis.gc();
  steps.memory = (process.memoryUsage.rss() - heap) / more.length;
  await timed('stop', () => Promise.all([first, second, clone, ...more].map((each) => each.stop())));
  console.log(JSON.stringify(steps));
})();`;

type Steps = Readonly<Record<string, readonly [wallMs: number, cpuMs: number]>> & { readonly memory: number };

/** Control planes of the package in the process of a test. */
export async function measureEmbedding(): Promise<Table> {
  const testing = path.join(repositoryRoot, 'dist', 'lib', 'testing.js');
  const rounds: Steps[] = [];
  // The first round writes the compiled code, and does not count.
  for (let round = 0; round <= ROUNDS; round += 1) {
    const { stdout } = await promisify(execFile)(process.execPath, ['--expose-gc', '-e', PROGRAM, testing]);
    if (round > 0) rounds.push(JSON.parse(stdout) as Steps);
  }
  const median = (of: (steps: Steps) => number): number =>
    rounds.map(of).sort((a, b) => a - b)[Math.floor(ROUNDS / 2)] ?? 0;
  const names = Object.keys(rounds[0] ?? {}).filter((name) => name !== 'memory');
  return {
    title: `Control planes in the process of a test, median of ${String(ROUNDS)}`,
    header: ['step', 'time', 'CPU'],
    rows: [
      ...names.map((name) => [
        name,
        milliseconds(median((steps) => steps[name]?.[0] ?? 0)),
        milliseconds(median((steps) => steps[name]?.[1] ?? 0)),
      ]),
      ['memory of one more', `${(median(({ memory }) => memory) / MIB).toFixed(1)} MiB`, ''],
    ],
  };
}
