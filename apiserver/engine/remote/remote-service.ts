import type { Connection } from '../../../shared/client/connection';
import { createConnection } from '../../../shared/client/connection';
import { loadKubeconfig } from '../../../shared/client/kubeconfig';
import { defined } from '../../../shared/defined';
import type { ClientRequests } from '../../../shared/metrics/rest-client';

export interface RemoteServiceOptions {
  /** A kubeconfig whose server is the address of the service. */
  readonly configFile: string;
  readonly socketsMax: number;
  /** How long one try may take, in milliseconds; 30,000 if not given. */
  readonly tryTimeoutMs?: number | undefined;
  /** Counts the requests, and says which addresses they may reach; absent: they are not counted, and may reach all. */
  readonly requests?: Pick<ClientRequests, 'observerOf' | 'allows'> | undefined;
}

const TRY_TIMEOUT_MS = 30_000;
const ANSWER_BYTES_MAX = 1024 * 1024;
const USER_AGENT = 'orch-apiserver';

/** The number of tries before a call fails. */
export const TRIES_MAX = 5;
const BACKOFF_FACTOR = 1.5;
const BACKOFF_JITTER = 0.2;

/** Creates a connection to the remote service of a kubeconfig. Throws KubeconfigError for a file that cannot be used. */
export function connectTo({
  configFile,
  socketsMax,
  tryTimeoutMs,
  requests,
}: RemoteServiceOptions): Connection {
  const { client } = loadKubeconfig({ path: configFile });
  return createConnection({
    ...client,
    ...defined({ observe: requests?.observerOf(client.server), allows: requests?.allows }),
    userAgent: USER_AGENT,
    timeoutMs: tryTimeoutMs ?? TRY_TIMEOUT_MS,
    socketsMax,
    answerBytesMax: ANSWER_BYTES_MAX,
  });
}

/** Returns the exponential backoff after `tries` tries, in milliseconds, with jitter of up to 20 %. */
export function backoffMs(initialMs: number, tries: number): number {
  return initialMs * BACKOFF_FACTOR ** (tries - 1) * (1 + Math.random() * BACKOFF_JITTER);
}

/** Returns whether the status code is a success. */
export function isSuccess({ code }: { readonly code: number }): boolean {
  return code >= 200 && code < 300;
}
