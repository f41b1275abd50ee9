import { percentile } from './messages';
import type { RequestLoad, Target, WriteKind } from './messages';
import { cpuNanoseconds, preferProcess } from './process-cost';
import { benchPod } from './bench-pod';
import type { Send } from './request-load';
import { callOf, overHttp1 } from './request-load';
import type { Servers } from './servers';
import { withServers } from './servers';
import type { Table } from './table';
import { microseconds } from './table';
import { defaultServiceAccount, namespace } from '../support/objects';

/** The folder of the reference build; by default this repository, so that the table shows the noise. */
const BUILD_ROOT = process.env['ORCH_BENCH_BUILD'];
/** A pattern of the names of requests to send. */
const WANTED = new RegExp(process.env['ORCH_BENCH_COMPARE'] ?? '', 'u');
/** The number of restarts of both builds, because V8's optimization differs more between processes than between turns. */
const STARTS = Number(process.env['ORCH_BENCH_STARTS'] ?? 5);
/** The turns of each build for each kind of request in one start. */
const TURNS = Number(process.env['ORCH_BENCH_TURNS'] ?? 30);
/** Turns that are not counted. */
const WARM_UP_TURNS = 30;
const AT_A_TIME = 16;
const LISTED_PODS = 500;

const NAMESPACE = '/api/v1/namespaces/bench';
const CONFIGMAPS = `${NAMESPACE}/configmaps`;
const MADE_PODS = '/api/v1/namespaces/made/pods';
const DEPLOYMENTS = '/apis/apps/v1/namespaces/bench/deployments';
const PODS = `${NAMESPACE}/pods`;

/** One kind of request, and its number in a turn of about 30 ms of CPU time. */
interface Work {
  readonly name: string;
  readonly path: string;
  readonly requests: number;
  readonly write?: { readonly kind: WriteKind; readonly prefix: string };
}

/** In order of their prerequisites: deletes follow creates, changes follow applies. */
const WORKS: readonly Work[] = [
  { name: 'create', path: CONFIGMAPS, requests: 60, write: { kind: 'create', prefix: 'c' } },
  { name: 'delete', path: CONFIGMAPS, requests: 60, write: { kind: 'delete', prefix: 'c' } },
  { name: 'apply', path: CONFIGMAPS, requests: 40, write: { kind: 'apply', prefix: 'a' } },
  { name: 'merge patch', path: CONFIGMAPS, requests: 60, write: { kind: 'patch', prefix: 'a' } },
  { name: 'update', path: CONFIGMAPS, requests: 60, write: { kind: 'update', prefix: 'a' } },
  { name: 'create of a pod', path: MADE_PODS, requests: 40, write: { kind: 'createPod', prefix: 'p' } },
  { name: 'status of a pod', path: MADE_PODS, requests: 40, write: { kind: 'patchPodStatus', prefix: 'p' } },
  { name: 'dry run of a pod', path: MADE_PODS, requests: 30, write: { kind: 'dryRunPod', prefix: 'd' } },
  {
    name: 'apply of a Deployment',
    path: DEPLOYMENTS,
    requests: 20,
    write: { kind: 'applyDeployment', prefix: 'd' },
  },
  {
    name: 'update of a Deployment',
    path: DEPLOYMENTS,
    requests: 20,
    write: { kind: 'updateDeployment', prefix: 'd' },
  },
  { name: 'GET', path: `${PODS}/pod-0`, requests: 300 },
  { name: 'cached GET', path: `${PODS}/pod-0?resourceVersion=0`, requests: 500 },
  { name: 'list of 500', path: `${PODS}?limit=${String(LISTED_PODS)}`, requests: 12 },
];

/** A client of one of the two servers. */
interface Side {
  readonly pid: number;
  readonly target: Target;
}

/** CPU time of each of two builds per request, turn by turn. */
interface Pair {
  readonly first: number[];
  readonly second: number[];
}

/**
 * Compares the cost of each kind of request in this build and in another one (in the folder ORCH_BENCH_BUILD). Two servers, each on its
 * own etcd, receive the same few requests by turns, so that other load on the machine affects both.
 */
export async function compareBuilds(): Promise<Table> {
  const works = WORKS.filter(({ name }) => WANTED.test(name));
  const found = new Map<Work, Pair[]>(works.map((work) => [work, []]));
  for (let start = 0; start < STARTS; start += 1) {
    await withServers({ name: 'bench-first', dialect: 'orch', buildRoot: BUILD_ROOT }, async (first) =>
      withServers({ name: 'bench-second', dialect: 'orch' }, async (second) => {
        const sides = [await sideOf(first), await sideOf(second)] as const;
        for (const work of works) found.get(work)?.push(await compare(work, sides));
      }),
    );
  }
  return {
    title: 'What requests cost, beside another build',
    header: ['request', 'the other', 'this', 'more', 'of single starts'],
    rows: works.map((work) => rowOf(work, found.get(work) ?? [])),
    notes: [
      `${String(STARTS)} starts of both, ${String(TURNS)} turns each; medians of turns, and of starts. Of ${BUILD_ROOT ?? 'the same build'}.`,
    ],
  };
}

async function sideOf({ replica, targetOf }: Servers): Promise<Side> {
  for (const name of ['bench', 'made']) {
    await replica.client.create('/api/v1/namespaces', namespace(name));
    await replica.client.create(`/api/v1/namespaces/${name}/serviceaccounts`, defaultServiceAccount());
  }
  for (let index = 0; index < LISTED_PODS; index += 1) {
    const created = await replica.client.create(PODS, benchPod(index));
    if (created.status !== 201) throw new Error(created.text);
  }
  const { pid } = replica.process();
  preferProcess(pid);
  return { pid, target: targetOf(replica) };
}

async function compare(work: Work, [firstSide, secondSide]: readonly [Side, Side]): Promise<Pair> {
  const first = takeTurns(firstSide, work);
  const second = takeTurns(secondSide, work);
  const pair: Pair = { first: [], second: [] };
  for (let turn = -WARM_UP_TURNS; turn < TURNS; turn += 1) {
    // They alternate in going first, so that neither always runs after the other.
    const early = turn % 2 === 0 ? await first() : undefined;
    const ofSecond = await second();
    const ofFirst = early ?? (await first());
    if (turn < 0) continue;
    pair.first.push(ofFirst);
    pair.second.push(ofSecond);
  }
  return pair;
}

/** Each call is one turn and resolves to the CPU time of one request in nanoseconds. */
function takeTurns({ pid, target }: Side, { path, requests, write }: Work): () => Promise<number> {
  const load: RequestLoad = {
    kind: 'requests',
    target,
    path,
    connections: AT_A_TIME,
    durationMs: 0,
    ...(write === undefined ? {} : { write }),
  };
  const send: Send = overHttp1(load);
  let begun = 0;
  return async () => {
    const end = begun + requests;
    const worker = async (): Promise<void> => {
      while (begun < end) await send(callOf(load, begun++));
    };
    const before = cpuNanoseconds(pid);
    await Promise.all(Array.from({ length: AT_A_TIME }, worker));
    return (cpuNanoseconds(pid) - before) / requests;
  };
}

function rowOf({ name }: Work, pairs: readonly Pair[]): readonly string[] {
  const ratios = pairs.map(({ first, second }) =>
    median(second.map((cost, turn) => cost / (first[turn] ?? 0))),
  );
  const cost = (of: (pair: Pair) => readonly number[]): string =>
    microseconds(median(pairs.map((pair) => median(of(pair)))) / 1_000);
  return [
    name,
    cost(({ first }) => first),
    cost(({ second }) => second),
    percent(median(ratios)),
    ratios.map(percent).join(', '),
  ];
}

/** The median. */
function median(values: readonly number[]): number {
  const last = values.length - 1;
  return (
    (percentile(values, Math.floor(last / 2) / values.length) +
      percentile(values, Math.ceil(last / 2) / values.length)) /
    2
  );
}

function percent(ratio: number): string {
  const more = (ratio - 1) * 100;
  return `${more < 0 ? '−' : '+'}${Math.abs(more).toFixed(1)} %`;
}
