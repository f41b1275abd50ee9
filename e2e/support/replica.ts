import path from 'node:path';
import type { StorageChoice } from '../../deploy/local/api-server';
import { caFileOf, serverUrl, startApiServer } from '../../deploy/local/api-server';
import type { Credentials } from '../../deploy/local/credentials';
import { writeKubeconfig } from '../../deploy/local/credentials';
import { freePort } from '../../deploy/local/ports';
import { waitUntilReady } from '../../deploy/local/readiness';
import type { StartedProcess } from '../../deploy/local/started-process';
import { defined } from '../../shared/defined';
import type { Dialect } from '../../shared/names';
import { PATIENCE_MS } from '../../shared/testing/eventually';
import { ApiClient } from './client';
import type { HttpVersion } from './http-version';
import { remember } from './workspace';

export interface ReplicaOptions {
  readonly name?: string;
  readonly dialect: Dialect;
  readonly storage: StorageChoice;
  /** The folder of its kubeconfig. */
  readonly dir: string;
  /** Replicas of one set share this folder; by default in `dir`. */
  readonly certDir?: string;
  readonly credentials: Credentials;
  /** How long the server continues to serve after SIGTERM, as a Go duration; by default 0. */
  readonly shutdownDelay?: string;
  readonly extraArgs?: readonly string[];
  /** The HTTP version of its client; by default ORCH_E2E_HTTP, or 1.1. */
  readonly http?: HttpVersion;
  /** Node flags and environment variables of its process. */
  readonly nodeFlags?: readonly string[];
  /** Its compiled program; by default the one of the build. */
  readonly program?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** The folder of the first build to run; by default this repository. */
  readonly buildRoot?: string | undefined;
}

/** One API server process that a test may kill, freeze and restart. */
export interface Replica {
  readonly name: string;
  readonly server: string;
  readonly port: number;
  readonly kubeconfig: string;
  readonly caFile: string;
  readonly client: ApiClient;
  /** The current process, or the last one. */
  process(): StartedProcess;
  /** Milliseconds from the last process start to ready. */
  readyAfterMs(): number;
  /** Sends a signal and waits until the process has ended; the default is SIGKILL. */
  kill(signal?: NodeJS.Signals): Promise<void>;
  /** Starts the server again on the same port and waits until it is ready. */
  restart(): Promise<void>;
  /** Stops the server, and starts another build or one with other arguments in its place. */
  exchange(changes: Pick<ReplicaOptions, 'buildRoot' | 'extraArgs'>): Promise<void>;
  /** Freezes the process (SIGSTOP). */
  pause(): void;
  resume(): void;
  /** Stops the server within a few seconds, and closes the client. */
  stop(): Promise<void>;
}

/** Starts one API server on a free port and waits until it is ready. */
export async function startReplica(options: ReplicaOptions): Promise<Replica> {
  const port = await freePort();
  const name = options.name ?? 'apiserver';
  const server = serverUrl(port);
  const certDir = options.certDir ?? path.join(options.dir, 'certs');
  const caFile = caFileOf(certDir);
  const kubeconfig = path.join(options.dir, `${name}.kubeconfig`);
  const token = options.credentials.adminToken;
  let readyAfterMs = 0;
  let current = options;

  const start = async (): Promise<StartedProcess> => {
    const startedAt = performance.now();
    const {
      dialect,
      storage,
      credentials,
      shutdownDelay,
      extraArgs,
      nodeFlags,
      env,
      program: file,
      buildRoot,
    } = current;
    const program = remember(
      await startApiServer({
        name,
        port,
        dialect,
        storage,
        certDir,
        credentials,
        ...defined({ shutdownDelay, extraArgs, nodeFlags, env, buildRoot, program: file }),
      }),
    );
    await waitUntilReady(program, { server, caFile, token, deadlineMs: PATIENCE_MS }).catch(
      async (error: unknown) => {
        await program.stop(GRACE_MS);
        throw error;
      },
    );
    readyAfterMs = performance.now() - startedAt;
    return program;
  };

  let program = await start();
  const client = new ApiClient({ server, caFile, token, ...defined({ http: options.http }) });
  writeKubeconfig(kubeconfig, { server, caFile, user: 'admin', token });
  return {
    name,
    server,
    port,
    kubeconfig,
    caFile,
    client,
    process: () => program,
    readyAfterMs: () => readyAfterMs,
    async kill(signal = 'SIGKILL') {
      program.signal(signal);
      await program.exited;
    },
    async restart() {
      await program.stop(GRACE_MS);
      program = await start();
    },
    async exchange(changes) {
      program.signal('SIGTERM');
      await program.exited;
      current = { ...current, ...changes };
      program = await start();
    },
    pause: () => {
      program.signal('SIGSTOP');
    },
    resume: () => {
      program.signal('SIGCONT');
    },
    async stop() {
      client.close();
      await program.stop(GRACE_MS);
    },
  };
}

const GRACE_MS = 5_000;
