import type { Log } from '../../shared/log/log';
import type { Backend } from '../storage/backend';
import { newOffloadCounts } from './offload-counts';
import type { OffloadCounts } from './offload-counts';
import { Offload } from './offload';
import { OffloadThread } from './offload-thread';
import { spawnThread } from './spawn';

export interface OffloadParts {
  readonly backend: Backend;
  readonly log: Log;
  /** `host:port` at which clients reach this server. */
  readonly serverAddress: () => string;
  /** Aborts when the server is stopped. */
  readonly life: AbortSignal;
}

/** Has large requests carried out by a thread of this process, which begins with the first of them. */
export function createOffload(parts: OffloadParts): {
  readonly large: Offload;
  readonly counts: OffloadCounts;
} {
  const { backend, log, serverAddress, life } = parts;
  const counts = newOffloadCounts();
  const large = new Offload({
    begin: () =>
      new OffloadThread(spawnThread({ backend, log, serverAddress: serverAddress() }), { log, counts }),
    counts,
  });
  const close = (): void => {
    large.close().catch((error: unknown) => {
      log.warn({ error }, 'failed to end the thread for large requests');
    });
  };
  life.addEventListener('abort', close, { once: true });
  return { large, counts };
}
