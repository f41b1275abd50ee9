/**
 * `npm run bench`: measures one API server on one etcd, with the limits in the same run; separate processes generate the load. Arguments
 * select parts (`npm run bench -- lists delivery`). ORCH_BENCH_OBJECTS, ORCH_BENCH_WATCHERS, ORCH_BENCH_IDLE_WATCHERS and
 * ORCH_BENCH_SECONDS set the sizes.
 */
import { cpus } from 'node:os';
import { measureAttacks } from './attacks';
import { compareBuilds } from './compare';
import { measureCost } from './cost';
import { measureDefinitions } from './definitions';
import { measureDelivery } from './delivery';
import { measureEmbedding } from './embed';
import { measureExpressions } from './expressions';
import { measureHttp2 } from './http2-cost';
import { measureIdleWatchers } from './idle-watchers';
import { measureEncryption } from './encryption-cost';
import { measureListMemory } from './list-memory';
import { measureAllocations } from './patch-allocations';
import { measureLimits, measureOverload } from './overload';
import type { Bench } from './rig';
import { SIZES, withBench } from './rig';
import { measureScrape } from './scrape';
import { measureStarts } from './start-times';
import type { Table } from './table';
import { printTable } from './table';
import { measureWorstRequests } from './worst-requests';

type Parts = Readonly<Record<string, (bench: Bench) => Promise<Table>>>;

/** Groups of parts that share servers. Each group starts new servers, because a server reuses the memory of earlier parts. */
const GROUPS: readonly Parts[] = [
  {
    // First, while the server has not yet answered a list.
    lists: measureListMemory,
    cost: measureCost,
    delivery: measureDelivery,
    allocations: measureAllocations,
  },
  { scrape: measureScrape },
  { idle: measureIdleWatchers },
  { starts: measureStarts },
];

/** Parts that run only if selected, on separate servers. */
const ASKED_FOR: readonly (readonly [name: string, measure: () => Promise<Table>])[] = [
  ['attacks', measureAttacks],
  ['cel', measureExpressions],
  ['compare', compareBuilds],
  ['definitions', measureDefinitions],
  ['embed', measureEmbedding],
  ['encryption', measureEncryption],
  ['http2', measureHttp2],
  ['limits', measureLimits],
  ['overload', measureOverload],
  ['worst', measureWorstRequests],
];

async function main(words: readonly string[]): Promise<void> {
  const known = [...GROUPS.flatMap((parts) => Object.keys(parts)), ...ASKED_FOR.map(([name]) => name)];
  const unknown = words.filter((word) => !known.includes(word));
  if (unknown.length > 0) {
    throw new Error(`No such part: ${unknown.join(', ')}. There are: ${known.join(', ')}.`);
  }
  for (const parts of GROUPS) {
    const wanted = Object.keys(parts).filter((name) => words.length === 0 || words.includes(name));
    const measures = wanted.flatMap((name) => parts[name] ?? []);
    if (measures.length > 0) await withBench(async (bench) => runParts(bench, measures));
  }
  for (const [name, measure] of ASKED_FOR) {
    if (words.includes(name)) printTable(await measure());
  }
}

async function runParts(bench: Bench, measures: readonly Parts[string][]): Promise<void> {
  for (const measure of measures) printTable(await measure(bench));
  const [cpu] = cpus();
  console.log(`
Node ${process.version}, ${String(cpus().length)} × ${cpu?.model ?? 'unknown'}, ${new Date().toISOString().slice(0, 10)}
Memory of the server at rest: ${mb(bench.memory.idle)} idle, ${mb(bench.memory.filled)} with ${String(SIZES.objects)} pods; ${mb(bench.memory.started)} right after its start, ${mb(bench.memory.written)} right after the pods were written.
${bench.isPreferred ? 'Servers and load ran with the highest priority.' : 'Servers and load had to share the machine with everything else on it, which is in the figures.'}`);
}

function mb(megabytes: number): string {
  return `${megabytes.toFixed(0)} MB`;
}

main(process.argv.slice(2)).catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
