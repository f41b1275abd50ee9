import { ensureBindings, ensureClusterInfo, ensureNodesMayJoin } from '../../shared/client/cluster-info';
import type { FlagRow, FlagValues } from '../../shared/flags/flag-row';
import {
  discoverDialect,
  hasKubeconfig,
  KUBECONFIG_REQUIRED,
  kubeconfigFlag,
  readClientOptions,
  withClient,
} from './api-server';
import type { Command } from '../../shared/flags/command';
import { parsedCommand, readFlagFile } from '../../shared/flags/command';
import { OUTPUT_FLAG, createOutcome } from './output';

const TIMEOUT_FLAG = {
  name: 'timeout',
  type: 'duration',
  default: '1m0s',
  group: 'Generic',
  help: 'How long all steps together may take.',
} as const satisfies FlagRow;

const FLAGS = [
  kubeconfigFlag('Generic', 'of an administrator'),
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
    name: 'allow-join',
    type: 'bool',
    default: false,
    group: 'Generic',
    help: 'Also create the bindings by which bootstrap tokens of the group system:bootstrappers:kubeadm:default-node-token (in the dialect orch, system:bootstrappers:orch:default-node-token) request certificates of nodes, and these are approved.',
  },
  TIMEOUT_FLAG,
  OUTPUT_FLAG,
] as const satisfies readonly FlagRow[];

const BINDINGS_FLAGS = [
  kubeconfigFlag('Generic', 'of a member of system:masters'),
  TIMEOUT_FLAG,
  OUTPUT_FLAG,
] as const satisfies readonly FlagRow[];

/** Grants the rights of certificates that are in no privileged group. */
export const BINDINGS_COMMAND: Command = parsedCommand({
  name: ['bindings', 'ensure'],
  group: 'Control plane',
  summary:
    'Creates the missing bindings of cluster administrators (kubeadm:cluster-admins, in the dialect orch orch:cluster-admins) and of API servers at kubelets.',
  flags: BINDINGS_FLAGS,
  run: async ({ kubeconfig, timeoutMs, output }: FlagValues<typeof BINDINGS_FLAGS>) => {
    if (!hasKubeconfig(kubeconfig)) return { errors: [KUBECONFIG_REQUIRED] };
    return withClient(readClientOptions(kubeconfig), async (client) => {
      const names = await ensureBindings(
        client,
        await discoverDialect(client),
        AbortSignal.timeout(timeoutMs),
      );
      return createOutcome(output, {
        json: { bindings: names },
        lines: names.map((name) => `bound ${name}`),
        code: 0,
      });
    });
  },
});

/** What nodes that join read without credentials. */
export const CLUSTER_INFO_COMMAND: Command = parsedCommand({
  name: ['cluster-info', 'publish'],
  group: 'Control plane',
  summary:
    'Publishes address and authorities in the public namespace for nodes that join, readable without credentials.',
  flags: FLAGS,
  run: async ({ kubeconfig, server, caFile, allowJoin, timeoutMs, output }: FlagValues<typeof FLAGS>) => {
    const errors = [
      ...(hasKubeconfig(kubeconfig) ? [] : [KUBECONFIG_REQUIRED]),
      ...(/^https:\/\/[^/]+\/?$/u.test(server) ? [] : ['--server must be like https://host:port']),
    ];
    if (errors.length > 0) return { errors };
    const options = readClientOptions(kubeconfig);
    const authorities = caFile === '' ? options.ca?.toString() : readFlagFile('ca-file', caFile).toString();
    if (authorities === undefined) return { errors: ['--ca-file is required: the kubeconfig has none'] };
    return withClient(options, async (client) => {
      const signal = AbortSignal.timeout(timeoutMs);
      const dialect = await discoverDialect(client);
      const name = await ensureClusterInfo(client, { server, authorities, dialect }, signal);
      if (allowJoin) await ensureNodesMayJoin(client, dialect, signal);
      return createOutcome(output, {
        json: { configMap: name, server },
        lines: [`published ${name}`],
        code: 0,
      });
    });
  },
});
