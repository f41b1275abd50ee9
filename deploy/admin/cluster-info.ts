import { readFileSync } from 'node:fs';
import { createClient } from '../../shared/client/client';
import { CLUSTER_INFO, ensureClusterInfo } from '../../shared/client/cluster-info';
import { loadKubeconfig } from '../../shared/client/kubeconfig';
import type { FlagRow, FlagValues } from '../../shared/flags/flag-row';
import { NAMESPACE } from '../../shared/names';
import type { Command } from './command';
import { parsedCommand } from './command';
import { OUTPUT_FLAG, createOutcome } from './output';

const FLAGS = [
  {
    name: 'kubeconfig',
    type: 'string',
    default: '',
    group: 'Generic',
    help: 'Path of the kubeconfig file of an administrator.',
  },
  {
    name: 'server',
    type: 'string',
    default: '',
    group: 'Generic',
    help: 'The address at which nodes reach the API servers, as https://host:port.',
  },
  {
    name: 'ca-file',
    type: 'string',
    default: '',
    group: 'Generic',
    help: 'The authorities of the API servers, as PEM. Defaults to those of the kubeconfig.',
  },
  {
    name: 'timeout',
    type: 'duration',
    default: '1m0s',
    group: 'Generic',
    help: 'How long all steps together may take.',
  },
  OUTPUT_FLAG,
] as const satisfies readonly FlagRow[];

/** What nodes that join read without credentials. */
export const CLUSTER_INFO_COMMAND: Command = parsedCommand({
  name: ['cluster-info', 'publish'],
  group: 'Control plane',
  summary: `Publishes address and authorities in ${NAMESPACE.public} for nodes that join, readable by everybody.`,
  flags: FLAGS,
  run: async ({ kubeconfig, server, caFile, timeoutMs, output }: FlagValues<typeof FLAGS>) => {
    const errors = [
      ...(kubeconfig === '' ? ['--kubeconfig is required'] : []),
      ...(/^https:\/\/[^/]+\/?$/u.test(server) ? [] : ['--server must be like https://host:port']),
    ];
    if (errors.length > 0) return { errors };
    const options = loadKubeconfig({ path: kubeconfig }).client;
    const authorities = caFile === '' ? options.ca?.toString() : readFileSync(caFile, 'utf8');
    if (authorities === undefined) return { errors: ['--ca-file is required: the kubeconfig has none'] };
    const client = createClient({ ...options, userAgent: 'orch-admin' });
    try {
      await ensureClusterInfo(client, { server, authorities }, AbortSignal.timeout(timeoutMs));
      const name = `${NAMESPACE.public}/${CLUSTER_INFO.configMap}`;
      return createOutcome(output, {
        json: { configMap: name, server },
        lines: [`published ${name}`],
        code: 0,
      });
    } finally {
      client.close();
    }
  },
});
