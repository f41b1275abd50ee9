import type { Connection } from '../../../shared/client/connection';
import { createConnection } from '../../../shared/client/connection';
import { loadKubeconfig } from '../../../shared/client/kubeconfig';
import { OWN_REQUESTS } from './own-requests';

export interface RemoteServiceOptions {
  /** A kubeconfig whose server is the address of the service. */
  readonly configFile: string;
  readonly socketsMax: number;
  /** How long one try may take, in milliseconds; 30,000 if not given. */
  readonly tryTimeoutMs?: number | undefined;
}

const TRY_TIMEOUT_MS = 30_000;
const ANSWER_BYTES_MAX = 1024 * 1024;
const USER_AGENT = 'orch-apiserver';

/** How often a service is tried before it is given up. */
export const TRIES_MAX = 5;
const BACKOFF_FACTOR = 1.5;
const BACKOFF_JITTER = 0.2;

/** The way to a service of others that this server was told to ask, or to tell. Throws KubeconfigError for a file that cannot be used. */
export function connectTo({ configFile, socketsMax, tryTimeoutMs }: RemoteServiceOptions): Connection {
  const { client } = loadKubeconfig({ path: configFile });
  return createConnection({
    ...client,
    observe: OWN_REQUESTS.observerOf(client.server),
    userAgent: USER_AGENT,
    timeoutMs: tryTimeoutMs ?? TRY_TIMEOUT_MS,
    socketsMax,
    answerBytesMax: ANSWER_BYTES_MAX,
  });
}

/** How long to wait after so many tries, in milliseconds: each wait is half as long again as the one before. */
export function backoffMs(initialMs: number, tries: number): number {
  return initialMs * BACKOFF_FACTOR ** (tries - 1) * (1 + Math.random() * BACKOFF_JITTER);
}

/** Whether the service took what it was sent. */
export function isTaken({ code }: { readonly code: number }): boolean {
  return code >= 200 && code < 300;
}
