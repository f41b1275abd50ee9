import { setMaxListeners } from 'node:events';
import { silentLog } from '../../../../../../shared/log/log';
import { patience } from '../../../../../../shared/testing/eventually';
import type { EtcdBackend } from '../etcd-backend';
import { createEtcdBackend } from '../etcd-backend';

/*
 * Measures what one operation costs this process, in microseconds of CPU. The build leaves it out, so compile the tree beside it:
 * npx tsc --outDir dist/measure && node dist/measure/apiserver/storage/etcd/testing/measure.js http://127.0.0.1:2379
 * It writes about 30,000 keys below /measure.
 */

const IN_FLIGHT = 128;
const VALUE = Buffer.alloc(1_500, 'v');
const PREFIX = '/measure';

interface Cost {
  readonly cpuMicros: number;
  readonly perSecond: number;
}

async function measure(count: number, body: () => Promise<void>): Promise<Cost> {
  const cpu = process.cpuUsage();
  const start = performance.now();
  await body();
  const { user, system } = process.cpuUsage(cpu);
  const seconds = (performance.now() - start) / 1_000;
  return { cpuMicros: Math.round((user + system) / count), perSecond: Math.round(count / seconds) };
}

/** Keeps `IN_FLIGHT` calls under way until `count` are done. */
async function many(count: number, call: (index: number) => Promise<unknown>): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < count) await call(next++);
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, worker));
}

async function readWatch(backend: EtcdBackend, from: number, count: number): Promise<void> {
  let seen = 0;
  for await (const batch of backend.watch({ from }, patience())) {
    seen += batch.length;
    if (seen >= count) return;
  }
}

async function main(): Promise<void> {
  const [, , endpoint = 'http://127.0.0.1:2379'] = process.argv;
  const backend = createEtcdBackend({ endpoints: [endpoint], prefix: PREFIX, log: silentLog });
  const forever = new AbortController().signal;
  setMaxListeners(0, forever);
  const run = String(Date.now());
  const key = (index: number): string => `${PREFIX}/${run}/${String(index)}`;
  const from = (await backend.currentRevision(forever)) + 1;
  await many(2_000, async (index) => backend.create(key(index), VALUE, {}, forever));
  const create = await measure(20_000, async () =>
    many(20_000, async (index) => backend.create(key(index + 2_000), VALUE, {}, forever)),
  );
  const get = await measure(20_000, async () =>
    many(20_000, async (index) => backend.get(key(index), forever)),
  );
  const readIndex = await measure(20_000, async () =>
    many(20_000, async () => backend.currentRevision(forever)),
  );
  const watchHistory = await measure(22_000, async () => readWatch(backend, from, 22_000));
  const list = await measure(22_000, async () => {
    await backend.list(`${PREFIX}/${run}/`, {}, forever);
  });
  const now = (await backend.currentRevision(forever)) + 1;
  const both = await measure(8_000, async () => {
    const reading = readWatch(backend, now, 8_000);
    await many(8_000, async (index) => backend.create(key(index + 22_000), VALUE, {}, forever));
    await reading;
  });
  console.table({
    create,
    get,
    readIndex,
    watchHistory,
    'list, per record': list,
    'create and live watch': both,
  });
  await backend.close();
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
