import { sleep } from '../../../../../shared/concurrency/abort';
import type { FlagRow, FlagValues } from '../../../../../shared/flags/flag-row';
import { STORE_CHECK } from '../../../../../shared/names';
import { STORE_IDENTITY_KEY } from '../../../../../shared/store-identity';
import type { BackendRow } from '../../backend-row';
import { STORAGE_GROUP } from '../../backend-row';
import { Alarms } from './alarms';
import { runCompactor } from './compactor';
import { StoreIdentityBackend } from '../../decorators/identity/identity-backend';
import { METHODS } from './codec';
import type { EtcdClient } from './etcd-client';
import { createEtcdBackend } from './etcd-backend';

const FLAGS = [
  {
    name: 'etcd-servers',
    type: 'stringList',
    default: [],
    group: STORAGE_GROUP,
    help: 'The etcd members to connect to (scheme://host:port), separated by commas.',
  },
  {
    name: 'etcd-cafile',
    type: 'string',
    default: '',
    group: STORAGE_GROUP,
    help: 'CA bundle (PEM) that verifies the certificates of etcd.',
  },
  {
    name: 'etcd-certfile',
    type: 'string',
    default: '',
    group: STORAGE_GROUP,
    help: 'The client certificate (PEM) for etcd.',
  },
  {
    name: 'etcd-keyfile',
    type: 'string',
    default: '',
    group: STORAGE_GROUP,
    help: 'The private key (PEM) of --etcd-certfile.',
  },
] as const satisfies readonly FlagRow[];

export interface EtcdStoreOptions {
  readonly endpoints: readonly string[];
  readonly caFile?: string;
  readonly client?: { readonly certFile: string; readonly keyFile: string };
}

/** Also applies to the loopback interface: other users of the machine can connect to it. */
const OPEN_TO =
  'every client that can connect to it or read its traffic has every Secret and may change every object; serve it with TLS and client certificates (--etcd-cafile, --etcd-certfile, --etcd-keyfile)';

/** etcd, as the flags name it. */
export const ETCD = {
  help: 'an etcd cluster',
  names: { check: STORE_CHECK, component: 'etcd-0' },
  flags: FLAGS,
  needs: { flag: 'etcd-servers', hint: 'for a store without etcd use --storage-backend=embedded' },
  isNamed: ({ etcdServers }) => etcdServers.length > 0,
  problems: ({ etcdServers, etcdCertfile, etcdKeyfile }) => [
    ...etcdServers
      .filter((server) => !/^https?:\/\/[^/]+\/?$/.test(server))
      .map((server) => `--etcd-servers must be like https://host:2379, not "${server}"`),
    ...((etcdCertfile === '') === (etcdKeyfile === '')
      ? []
      : ['--etcd-certfile and --etcd-keyfile must be given together']),
  ],
  warnings: ({ etcdServers }) => {
    const plain = etcdServers.filter((server) => server.startsWith('http://'));
    return plain.length === 0 ? [] : [`etcd is reached without TLS (${plain.join(', ')}): ${OPEN_TO}`];
  },
  options: ({ etcdServers, etcdCafile, etcdCertfile, etcdKeyfile }) => ({
    endpoints: etcdServers.map((server) => server.replace(/\/$/, '')),
    ...(etcdCafile === '' ? {} : { caFile: etcdCafile }),
    ...(etcdCertfile === '' ? {} : { client: { certFile: etcdCertfile, keyFile: etcdKeyfile } }),
  }),
  open: async ({ endpoints, caFile, client, prefix, compactionIntervalMs }, { log }) => {
    const authority = caFile === undefined ? {} : { caFile };
    const etcd = createEtcdBackend({ endpoints, prefix, log, ...authority, ...client });
    const backend = new StoreIdentityBackend({ store: etcd, key: `${prefix}/${STORE_IDENTITY_KEY}`, log });
    const sizes = new Map<string, number>();
    const alarms = new Alarms(async (signal) => etcd.status(signal), log);
    return Promise.resolve({
      backend,
      trouble: () => alarms.trouble(),
      keepInformed: async (signal) => alarms.run(signal),
      replacements: () => backend.replacements,
      databaseSizes: sizes,
      keepDatabaseSizes: async (intervalMs, signal) =>
        keepDatabaseSizes(etcd.client, { sizes, intervalMs }, signal),
      connect: async (signal) => {
        const { version } = await etcd.status(signal);
        log.info({ version, endpoints }, 'connected to etcd');
      },
      keepCompact: async (signal) => {
        if (compactionIntervalMs === 0) return;
        await runCompactor({ backend: etcd, intervalMs: compactionIntervalMs, log }, signal);
      },
    });
  },
} as const satisfies BackendRow<FlagValues<typeof FLAGS>, EtcdStoreOptions>;

/** Polls the database size of every member until the signal aborts. A member that does not answer has no size. */
async function keepDatabaseSizes(
  client: EtcdClient,
  { sizes, intervalMs }: { readonly sizes: Map<string, number>; readonly intervalMs: number },
  signal: AbortSignal,
): Promise<void> {
  if (intervalMs === 0) return;
  while (!signal.aborted) {
    await Promise.all(
      client.endpointUrls.map(async (endpoint) => {
        const size = await databaseSize(client, endpoint, signal);
        if (size === undefined) sizes.delete(endpoint);
        else sizes.set(endpoint, size);
      }),
    );
    await sleep(intervalMs, signal).catch(() => undefined);
  }
}

/** The database size in bytes. Uses its own connection, because other calls are connected to one member only. */
async function databaseSize(
  client: EtcdClient,
  endpoint: string,
  signal: AbortSignal,
): Promise<number | undefined> {
  const transport = client.connect(endpoint);
  try {
    await transport.ready(client.dialTimeoutMs, signal);
    const token = await client.tokens?.get(transport, signal);
    const options = { timeoutMs: client.dialTimeoutMs, signal, token };
    return (await transport.unary(METHODS.status, {}, options)).dbSizeBytes;
  } catch {
    return undefined;
  } finally {
    transport.close();
  }
}
