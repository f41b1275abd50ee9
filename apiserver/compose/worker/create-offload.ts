import path from 'node:path';
import type { Log } from '../../../shared/log/log';
import type { Backend } from '../../engine/storage/backend';
import type { CountedPlane, Measured } from './measured';
import { addMeasured, measuresOf } from './measured';
import { newOffloadCounts } from '../../engine/workers/offload-counts';
import type { OffloadCounts } from '../../engine/workers/offload-counts';
import { Offload } from '../../engine/workers/offload';
import { OffloadThread } from '../../engine/workers/offload-thread';
import { spawnThread } from '../../engine/workers/spawn';

/** `thread.ts` as the build leaves it. */
const THREAD_PROGRAM = path.join(__dirname, 'thread.js');

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
    new OffloadThread(
      spawnThread({ backend, log, serverAddress: serverAddress(), threadProgram: THREAD_PROGRAM }),
      {
        log,
        counts,
        // The other end is `replica.ts` beside this file.
        measured: (measured) => addMeasured(measures, measured as Measured),
      },
    );
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
