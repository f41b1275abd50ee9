import type { FlagRow, FlagValues } from '../../../shared/flags/flag-row';
import { hasKubeconfig, KUBECONFIG_REQUIRED, kubeconfigFlag, readClientOptions } from '../api-server';
import type { Command } from '../../../shared/flags/command';
import { parsedCommand } from '../../../shared/flags/command';
import type { Found } from '../output';
import { columns, OUTPUT_FLAG, painted, createOutcome } from '../output';
import type { Comparison } from './compare';
import { compareReplicas, NO_ANSWER } from './compare';
import type { ReplicaState } from './replicas';
import { findReplicas, parseServer, stateOf } from './replicas';

const FLAGS = [
  kubeconfigFlag(
    'Generic',
    'with the address of the API servers and the credentials, which may read everything',
  ),
  {
    name: 'servers',
    type: 'stringList',
    default: [],
    group: 'Generic',
    help: 'The replicas, as <host>:<port> or https://<host>:<port>. If empty, those that the Endpoints of the API name.',
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
    const malformed = values.servers.filter((server) => parseServer(server) === undefined);
    const errors = [
      ...(hasKubeconfig(values.kubeconfig) ? [] : [KUBECONFIG_REQUIRED]),
      ...malformed.map((server) => `--servers must be like host:6443 or https://host:6443, not "${server}"`),
    ];
    return errors.length > 0 ? { errors } : createOutcome(values.output, await check(values));
  },
});

async function check({ kubeconfig, servers, timeoutMs }: FlagValues<typeof FLAGS>): Promise<Found> {
  const options = { ...readClientOptions(kubeconfig), timeoutMs };
  const replicas = await findReplicas(options, servers);
  try {
    const states = await Promise.all(replicas.map(stateOf));
    const ready = replicas.filter((_replica, at) => states[at]?.isReady === true);
    const comparisons = ready.length < 2 ? [] : await compareReplicas(ready);
    const differing = comparisons.filter(({ isEqual }) => !isEqual);
    const isWell = states.every(({ isReady }) => isReady) && differing.length === 0;
    return {
      json: { replicas: states, resources: comparisons, isWell },
      lines: [
        ...tableOf(states),
        ...sentences(
          comparisons,
          differing,
          `${String(ready.length)} of ${String(replicas.length)} replicas`,
        ),
      ],
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

function sentences(
  all: readonly Comparison[],
  differing: readonly Comparison[],
  ready: string,
): readonly string[] {
  if (all.length === 0) return [`nothing was compared: ${ready} are ready`];
  if (differing.length === 0) return [`${String(all.length)} resources are the same on ${ready}`];
  return differing.flatMap(({ resource, revision, digests }) => [
    painted(
      digests.some(({ digest }) => digest.startsWith(NO_ANSWER))
        ? `${resource} cannot be compared at revision ${revision}:`
        : `${resource} differ at revision ${revision}; restart the replica that differs from the others:`,
      'bad',
    ),
    ...digests.map(({ server, digest }) => `  ${server}  ${digest}`),
  ]);
}
