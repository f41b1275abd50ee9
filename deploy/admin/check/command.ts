import type { FlagRow, FlagValues } from '../../../shared/flags/flag-row';
import { loadKubeconfig } from '../../../shared/client/kubeconfig';
import type { Command } from '../command';
import { parsedCommand } from '../command';
import type { Found } from '../output';
import { columns, OUTPUT_FLAG, painted, createOutcome } from '../output';
import type { Comparison } from './compare';
import { compareReplicas } from './compare';
import type { ReplicaState } from './replicas';
import { findReplicas, stateOf } from './replicas';

const FLAGS = [
  {
    name: 'kubeconfig',
    type: 'string',
    default: '',
    group: 'Generic',
    help: 'Path of the kubeconfig file with the address of the API servers and the credentials, which may read everything.',
  },
  {
    name: 'servers',
    type: 'stringList',
    default: [],
    group: 'Generic',
    help: 'The replicas, as <host>:<port>. If empty, those that the Endpoints of the API name.',
  },
  {
    name: 'timeout',
    type: 'duration',
    default: '30s',
    group: 'Generic',
    help: 'How long one request may take.',
  },
  OUTPUT_FLAG,
] as const satisfies readonly FlagRow[];

/** A check of all replicas. */
export const CHECK_COMMAND: Command = parsedCommand({
  name: ['check'],
  group: 'Control plane',
  summary:
    'Shows health and version of every replica, and whether all hold the same of every resource; exit code 1 if one is ill or differs.',
  flags: FLAGS,
  run: async (values: FlagValues<typeof FLAGS>) => {
    const malformed = values.servers.filter((server) => !/^.+:\d+$/.test(server));
    const errors = [
      ...(values.kubeconfig === '' ? ['--kubeconfig is required'] : []),
      ...malformed.map((server) => `--servers must be like host:6443, not "${server}"`),
    ];
    return errors.length > 0 ? { errors } : createOutcome(values.output, await check(values));
  },
});

async function check({ kubeconfig, servers, timeoutMs }: FlagValues<typeof FLAGS>): Promise<Found> {
  const options = { ...loadKubeconfig({ path: kubeconfig }).client, userAgent: 'orch-admin', timeoutMs };
  const replicas = await findReplicas(options, servers);
  try {
    const states = await Promise.all(replicas.map(stateOf));
    const comparisons = await compareReplicas(
      replicas.filter((_replica, at) => states[at]?.isReady === true),
    );
    const differing = comparisons.filter(({ isEqual }) => !isEqual);
    const isWell = states.every(({ isReady }) => isReady) && differing.length === 0;
    return {
      json: { replicas: states, resources: comparisons, isWell },
      lines: [...tableOf(states), ...sentences(comparisons, differing)],
      code: isWell ? 0 : 1,
    };
  } finally {
    for (const { client } of replicas) client.close();
  }
}

function tableOf(states: readonly ReplicaState[]): readonly string[] {
  return columns([
    ['REPLICA', 'HEALTH', 'VERSION'],
    ...states.map(({ server, isReady, version, problem }) => [
      server,
      isReady ? painted('ready', 'good') : painted('not ready', 'bad'),
      version === '' ? problem : version,
    ]),
  ]);
}

function sentences(all: readonly Comparison[], differing: readonly Comparison[]): readonly string[] {
  if (differing.length === 0) return [`${String(all.length)} resources are the same on all replicas`];
  return differing.flatMap(({ resource, revision, digests }) => [
    painted(
      `${resource} differ at revision ${revision}; restart the replica that differs from the others:`,
      'bad',
    ),
    ...digests.map(({ server, digest }) => `  ${server}  ${digest}`),
  ]);
}
