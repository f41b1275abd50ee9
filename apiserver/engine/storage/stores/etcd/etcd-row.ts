import type { FlagRow, FlagValues } from '../../../../../shared/flags/flag-row';
import { STORE_CHECK } from '../../../../../shared/names';
import { STORE_IDENTITY_KEY } from '../../../../../shared/store-identity';
import type { BackendRow } from '../../backend-row';
import { STORAGE_GROUP } from '../../backend-row';
import { Alarms } from './alarms';
import { runCompactor } from './compactor';
import { StoreIdentityBackend } from '../../decorators/identity/identity-backend';
import { keepDatabaseSizes } from './database-sizes';
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

/** Also on the loopback interface: other users of the machine can connect to it. */
const OPEN_TO =
  'whoever can connect to it, or read what is sent, has every Secret and may change every object; serve it with TLS and client certificates (--etcd-cafile, --etcd-certfile, --etcd-keyfile)';

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
