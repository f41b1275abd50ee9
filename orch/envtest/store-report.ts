import { accessSync, constants, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { ConnectionError } from '../../shared/client/connection-error';
import type { Transport } from '../../shared/client/transport';
import { createTransport } from '../../shared/client/transport';
import { pause } from '../../shared/concurrency/pause';
import type { ServerFlags } from '../../apiserver/compose/options/complete-options';

/** Where our etcd answers with a StoreReport; etcd itself answers 404. */
export const STORE_PATH = '/orch/store';

/** What our etcd reports to the API server. */
export interface StoreReport {
  /** The directory for the embedded store. */
  readonly directory: string;
  /** Whether writes are synchronized with the disk. */
  readonly isSynced: boolean;
}

const TRY_MS = 2_000;
const RETRY_MS = 50;
/** Some test frameworks start both programs at once, and etcd may take its time. */
const DEADLINE_MS = 20_000;

/**
 * Replaces `--etcd-servers` by the embedded store if our etcd answers there. Flags that name a real etcd, or another store, are returned
 * unchanged, and so are those of an etcd that does not answer within 20 seconds: the store reports that.
 */
export async function locateStore(flags: ServerFlags, stop: AbortSignal): Promise<ServerFlags> {
  const [server] = flags.etcdServers;
  if (flags.storageBackend !== 'etcd3' || server === undefined) return flags;
  const transport = createTransport({
    server,
    ...read('ca', flags.etcdCafile),
    ...read('cert', flags.etcdCertfile),
    ...read('key', flags.etcdKeyfile),
  });
  try {
    const report = await request(transport, stop);
    if (report === undefined) return flags;
    return {
      ...flags,
      storageBackend: 'embedded',
      embeddedDir: reachable(report.directory),
      embeddedFsync: report.isSynced,
      etcdServers: [],
    };
  } finally {
    transport.close();
  }
}

async function request(transport: Transport, stop: AbortSignal): Promise<StoreReport | undefined> {
  const untilMs = Date.now() + DEADLINE_MS;
  while (!stop.aborted && Date.now() < untilMs) {
    try {
      const answer = await transport.send(
        { method: 'GET', path: STORE_PATH, headers: {} },
        { timeoutMs: TRY_MS, signal: stop },
      );
      return answer.code === 200 ? (JSON.parse(answer.body.toString()) as StoreReport) : undefined;
    } catch (error) {
      if (!(error instanceof ConnectionError)) throw error;
    }
    await pause(RETRY_MS, stop);
  }
  return undefined;
}

/** An etcd in a container of its own reports a directory that this process cannot see. */
function reachable(directory: string): string {
  try {
    accessSync(path.dirname(directory), constants.W_OK);
    return directory;
  } catch {
    return mkdtempSync(path.join(tmpdir(), 'orch-envtest-'));
  }
}

function read<Field extends string>(field: Field, file: string): { readonly [Name in Field]?: Buffer } {
  return (file === '' ? {} : { [field]: readFileSync(file) }) as { readonly [Name in Field]?: Buffer };
}
