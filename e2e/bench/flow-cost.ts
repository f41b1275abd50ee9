import { costOf } from './cost';
import { percentile } from './messages';
import { preferProcess } from './process-cost';
import type { Servers } from './servers';
import { withServers } from './servers';
import type { Table } from './table';
import { microseconds } from './table';

const CONNECTIONS = 16;
const ROUNDS = 8;
const ROUND_MS = 1_500;
/** The smallest request that needs a seat: the user is not a superuser. */
const PATH = '/api/v1/namespaces/default?resourceVersion=0';

/** The modes: limits in flight only, priority and fairness, and the same with seats shared over Redis. */
export interface FlowMode {
  readonly name: string;
  readonly extraArgs: readonly string[];
}

/** Measures the cost of flow control for a request without overload: servers of all modes on one etcd, by turns. */
export async function measureFlowCost(modes: readonly FlowMode[]): Promise<Table> {
  const flags = modes.map(
    ({ extraArgs }) =>
      () =>
        extraArgs,
  );
  return withServers({ name: 'bench-flow', dialect: 'orch', flags }, async (servers) => {
    const costs = await costsByTurns(servers);
    const [least = 0] = costs.map(median);
    return {
      title: 'What limits cost a request without overload',
      header: ['limits', 'CPU of a GET, median', 'least', 'more than the first'],
      rows: modes.map(({ name }, at) => {
        const own = costs[at] ?? [];
        return [
          name,
          microseconds(median(own)),
          microseconds(Math.min(...own)),
          microseconds(median(own) - least),
        ];
      }),
    };
  });
}

async function costsByTurns({
  replicas,
  credentials: { controllerManagerToken: token },
}: Servers): Promise<readonly (readonly number[])[]> {
  for (const replica of replicas) preferProcess(replica.process().pid);
  const costs = replicas.map((): number[] => []);
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [at, replica] of replicas.entries()) {
      const target = { server: replica.server, caFile: replica.caFile, token };
      const load = {
        kind: 'requests',
        target,
        path: PATH,
        connections: CONNECTIONS,
        durationMs: ROUND_MS,
      } as const;
      costs[at]?.push((await costOf(replica.process().pid, load)).cpu);
    }
  }
  return costs;
}

function median(values: readonly number[]): number {
  return percentile(values, 0.5);
}
