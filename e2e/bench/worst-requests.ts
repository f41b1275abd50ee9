import { setTimeout as delay } from 'node:timers/promises';
import type { Answer } from '../support/client';
import type { Replica } from '../support/replica';
import { askProbe } from './ask-probe';
import type { BenchProcess } from './children';
import { startLoad, tell } from './children';
import type { LoopFigures } from './loop-probe';
import type { ProbeResult } from './messages';
import { cpuMicroseconds, preferProcess } from './process-cost';
import { withServers } from './servers';
import type { Table } from './table';
import { megabytes, milliseconds } from './table';
import { BIG_JSON, SMALL_JSON } from './worst/big-json';
import { BIG_PROTOBUF, SMALL_PROTOBUF } from './worst/big-protobuf';
import { BIG_YAML, SMALL_YAML } from './worst/big-yaml';
import { COSTLY_VALUES, DEFINITION_REQUESTS } from './worst/definitions';
import { JUST_WITHIN } from './worst/just-within';
import { PATCHES } from './worst/patches';
import { QUERIES, READ_REQUESTS } from './worst/queries';
import { REFUSALS } from './worst/refusals';
import type { WorstRequest } from './worst/request';
import { WATCHERS } from './worst/request';
import { fillStore, STORED } from './worst/stored';

/** The maximum time that one request may block the event loop, in milliseconds of CPU time. */
const BAR_MS = 25;
/** A pattern of the names of requests to send. */
const WANTED = new RegExp(process.env['ORCH_BENCH_WORST'] ?? '', 'u');
/** The time for which a request is repeated, so that cheap ones are measurable. */
const REPEAT_MS = 500;
const TIMEOUT_MS = 120_000;
/** The measurement fails if the server is blocked for longer. */
const HELD_MS_MAX = 600_000;
/** The pause after a request, so that its remaining work is not in the figures of the next. */
const SETTLE_MS = 150;
const FIELD_MANAGER = 'fieldManager=worst';

const REQUESTS: readonly WorstRequest[] = [
  ...BIG_JSON,
  ...SMALL_JSON,
  ...BIG_YAML,
  ...SMALL_YAML,
  ...BIG_PROTOBUF,
  ...SMALL_PROTOBUF,
  ...PATCHES,
  ...JUST_WITHIN,
  ...REFUSALS,
  ...DEFINITION_REQUESTS,
  ...COSTLY_VALUES,
  ...QUERIES,
  ...READ_REQUESTS,
];

interface Rig {
  readonly replica: Replica;
  readonly loopFile: string;
  readonly probe: BenchProcess;
}

interface Figures {
  readonly request: WorstRequest;
  readonly bytes: number;
  readonly answer: string;
  readonly workedMs: number;
  readonly cpuMs: number;
  readonly ping: ProbeResult;
}

/**
 * Measures how long the worst requests block the event loop of a server, and the duration of another client's GET meanwhile.
 * ORCH_BENCH_WORST is a pattern of the names of requests to send.
 */
export async function measureWorstRequests(): Promise<Table> {
  const found: Figures[] = [];
  let quiet: ProbeResult | undefined;
  await withRig(async (rig) => {
    quiet = await pingsWhileQuiet(rig);
    for (const request of REQUESTS.filter(({ name }) => WANTED.test(name))) {
      const figures = await measure(rig, request);
      found.push(figures);
      console.log(`| ${rowOf(figures).join(' | ')} |`);
    }
  });
  const sorted = found.toSorted((a, b) => b.workedMs - a.workedMs);
  const over = sorted.filter(({ workedMs }) => workedMs > BAR_MS);
  return {
    title: `The ${String(found.length)} worst requests`,
    header: [
      'request',
      'bytes',
      'answer',
      'worked in one go',
      'CPU in all',
      'another’s GET, p99',
      'at most',
      'failed',
    ],
    rows: sorted.map(rowOf),
    notes: [
      `${String(over.length)} of ${String(found.length)} held the loop for more than ${String(BAR_MS)} ms.`,
      `While the server is quiet, the GET takes ${milliseconds(quiet?.p99Ms ?? Number.NaN)} (p99), ${milliseconds(quiet?.maxMs ?? Number.NaN)} at most.`,
    ],
  };
}

async function withRig(measureAll: (rig: Rig) => Promise<void>): Promise<void> {
  const options = { name: 'worst', dialect: 'kubernetes', isProbed: true } as const;
  await withServers(options, async ({ replica, loopFile, targetOf }) => {
    await fillStore(replica.client);
    preferProcess(replica.process().pid);
    const probe = await startLoad({ kind: 'probe', target: targetOf(replica), path: STORED.small });
    try {
      await measureAll({ replica, loopFile, probe });
    } finally {
      probe.send('stop');
    }
  });
}

const QUIET_MS = 3_000;

async function pingsWhileQuiet({ probe }: Rig): Promise<ProbeResult> {
  await tell(probe);
  await delay(QUIET_MS);
  return tell(probe);
}

async function measure({ replica, loopFile, probe }: Rig, request: WorstRequest): Promise<Figures> {
  const body = request.body?.();
  const over = new AbortController();
  await watchAll(replica, request, over.signal);
  await delay(SETTLE_MS);
  await askProbe(replica.process(), loopFile);
  await tell(probe);
  const { pid } = replica.process();
  const cpu = cpuMicroseconds(pid);
  const began = performance.now();
  let times = 0;
  let answer = '';
  do {
    answer = await send(replica, request, body);
    times += 1;
  } while (performance.now() - began < REPEAT_MS);
  await delay(SETTLE_MS);
  const cpuMs = (cpuMicroseconds(pid) - cpu) / 1_000 / times;
  const ping = await tell(probe);
  const { workedMs } = (await askProbe(replica.process(), loopFile, HELD_MS_MAX)) as LoopFigures;
  over.abort();
  return { request, bytes: body?.length ?? headBytes(request), answer, workedMs, cpuMs, ping };
}

async function send(replica: Replica, request: WorstRequest, body: Buffer | undefined): Promise<string> {
  const { method = 'GET', headers = {} } = request;
  const isManaged = method === 'POST' || method === 'PATCH' || method === 'PUT';
  const isNamed = !isManaged || request.path.includes('fieldManager=');
  const at = isNamed
    ? request.path
    : `${request.path}${request.path.includes('?') ? '&' : '?'}${FIELD_MANAGER}`;
  try {
    const answer: Answer = await replica.client.request({
      method,
      path: at,
      headers,
      timeoutMs: TIMEOUT_MS,
      ...(body === undefined ? {} : { body }),
    });
    return String(answer.status);
  } catch (error) {
    return error instanceof Error && 'code' in error ? String(error.code) : String(error);
  }
}

/** Resolves when all watchers have received the existing objects. */
async function watchAll(replica: Replica, { watched }: WorstRequest, signal: AbortSignal): Promise<void> {
  if (watched === undefined) return;
  await Promise.all(
    Array.from({ length: WATCHERS }, async () => replica.client.drain(watched.path, watched.accept, signal)),
  );
  await delay(SETTLE_MS * 4);
}

function headBytes({ path: at, headers = {} }: WorstRequest): number {
  return (
    at.length + Object.entries(headers).reduce((sum, [name, value]) => sum + name.length + value.length, 0)
  );
}

function rowOf({ request, bytes, answer, workedMs, cpuMs, ping }: Figures): readonly string[] {
  const size = bytes > 1e6 ? megabytes(bytes / 1024 / 1024) : String(bytes);
  return [
    request.name,
    size,
    answer,
    milliseconds(workedMs),
    milliseconds(cpuMs),
    milliseconds(ping.p99Ms),
    milliseconds(ping.maxMs),
    String(ping.failed),
  ];
}
