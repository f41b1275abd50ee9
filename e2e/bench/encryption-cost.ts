import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Cost } from './cost';
import { costOf } from './cost';
import type { WriteKind } from './messages';
import { SIZES } from './rig';
import { withServers } from './servers';
import type { Table } from './table';
import { microseconds } from './table';

const SECRETS = '/api/v1/namespaces/default/secrets';
/** The first configuration encrypts nothing. */
const PROVIDERS = ['identity', 'aescbc', 'aesgcm', 'secretbox'] as const;
const CONNECTIONS = 32;

/** Measures the CPU time of a request for a Secret of 1 KB for each encryption of Secrets in etcd, on separate servers. */
export async function measureEncryption(): Promise<Table> {
  const rows: (readonly string[])[] = [];
  for (const provider of PROVIDERS) {
    const { created, updated, read } = await measureProvider(provider);
    rows.push([provider, ...[created, updated, read].map(({ cpu }) => microseconds(cpu))]);
  }
  return {
    title: 'Cost of requests for Secrets, by how they are encrypted',
    header: ['provider', 'create', 'update', 'GET, consistent'],
    rows,
    notes: ['Reads are answered by the watch cache, which decrypts each event once.'],
  };
}

interface Costs {
  readonly created: Cost;
  readonly updated: Cost;
  readonly read: Cost;
}

async function measureProvider(provider: (typeof PROVIDERS)[number]): Promise<Costs> {
  const flags = [(dir: string) => [`--encryption-provider-config=${configurationFile(dir, provider)}`]];
  return withServers({ name: `bench-${provider}`, dialect: 'orch', flags }, async ({ replica, targetOf }) => {
    const target = targetOf(replica);
    const measure = async (at: string, write?: { kind: WriteKind; prefix: string }): Promise<Cost> =>
      costOf(replica.process().pid, {
        kind: 'requests',
        target,
        path: at,
        connections: CONNECTIONS,
        durationMs: SIZES.durationMs,
        ...(write === undefined ? {} : { write }),
      });
    const created = await measure(SECRETS, { kind: 'createSecret', prefix: 's' });
    const updated = await measure(SECRETS, { kind: 'updateSecret', prefix: 's' });
    return { created, updated, read: await measure(`${SECRETS}/s-0`) };
  });
}

function configurationFile(dir: string, provider: (typeof PROVIDERS)[number]): string {
  const file = path.join(dir, 'encryption.yaml');
  const keys = [{ name: 'bench', secret: randomBytes(32).toString('base64') }];
  const options = provider === 'identity' ? {} : { keys };
  const resources = [{ resources: ['secrets'], providers: [{ [provider]: options }] }];
  writeFileSync(file, JSON.stringify({ kind: 'EncryptionConfiguration', resources }));
  return file;
}
