import type { Log } from '../../shared/log/log';
import type { Backend } from '../storage/backend';
import type { CountedPlane } from './measured';
import { addMeasured, measuresOf } from './measured';
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
  /** Where what the threads count is added. */
  readonly plane: CountedPlane;
  /** Aborts when the server is stopped. */
  readonly shutdownSignal: AbortSignal;
}

export interface Offloads {
  readonly large: Offload;
  /** For elements of lists: whoever lists does not wait for what others write. */
  readonly encodings: Offload;
  readonly counts: OffloadCounts;
}

/** Has large requests, and large elements of lists, carried out by two threads of this process; each begins when it is first needed. */
export function createOffloads({
  backend,
  log,
  serverAddress,
  plane,
  shutdownSignal,
}: OffloadParts): Offloads {
  const counts = newOffloadCounts();
  const measures = measuresOf(plane);
  const begin = (): OffloadThread =>
    new OffloadThread(spawnThread({ backend, log, serverAddress: serverAddress() }), {
      log,
      counts,
      measured: (measured) => addMeasured(measures, measured),
    });
  const large = new Offload({ begin, counts });
  const encodings = new Offload({ begin, counts });
  const close = (): void => {
    Promise.all([large.close(), encodings.close()]).catch((error: unknown) => {
      log.warn({ error }, 'failed to end a thread for large requests');
    });
  };
  shutdownSignal.addEventListener('abort', close, { once: true });
  return { large, encodings, counts };
}
