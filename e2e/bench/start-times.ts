import { startLocalServer } from '../support/local-server';
import type { Bench } from './rig';
import { SIZES } from './rig';
import type { Table } from './table';
import { milliseconds } from './table';

const STARTS = 5;

/** From the start of a process to its readiness. */
export async function measureStarts(bench: Bench): Promise<Table> {
  const filled = await times(async () => {
    await bench.replica.kill('SIGTERM');
    await bench.replica.restart();
    return bench.replica.readyAfterMs();
  });
  const empty = await times(async () => {
    const local = await startLocalServer('orch');
    await local.stop();
    return local.replica.readyAfterMs();
  });
  return {
    title: `From start to ready, ${String(STARTS)} starts each`,
    header: ['store', 'median', 'slowest'],
    rows: [
      ['embedded, empty', ...spread(empty)],
      [`etcd with ${String(SIZES.objects)} pods`, ...spread(filled)],
    ],
  };
}

/** Ascending. */
async function times(start: () => Promise<number>): Promise<readonly number[]> {
  const all: number[] = [];
  for (let round = 0; round < STARTS; round++) all.push(await start());
  return all.sort((a, b) => a - b);
}

function spread(ascending: readonly number[]): readonly string[] {
  const [median = 0, slowest = 0] = [ascending[Math.floor(STARTS / 2)], ascending.at(-1)];
  return [milliseconds(median), milliseconds(slowest)];
}
