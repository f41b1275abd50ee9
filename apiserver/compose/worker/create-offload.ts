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

/** The build output of `thread.ts`. */
const THREAD_PROGRAM = path.join(__dirname, 'thread.js');

export interface OffloadParts {
  readonly backend: Backend;
  readonly log: Log;
  /** Receives the metrics of the threads. */
  readonly plane: CountedPlane;
  /** Aborts when the server is stopped. */
  readonly shutdownSignal: AbortSignal;
}

export interface Offloads {
  readonly large: Offload;
  /** Encodes elements of lists, on a thread of its own, so that reads do not wait for writes. */
  readonly encodings: Offload;
  readonly counts: OffloadCounts;
}

/** Offloads large requests and large list elements to two threads of this process; each thread starts on first use. */
export function createOffloads({ backend, log, plane, shutdownSignal }: OffloadParts): Offloads {
  const counts = newOffloadCounts();
  const measures = measuresOf(plane);
  const begin = (): OffloadThread =>
    new OffloadThread(spawnThread({ backend, log, threadProgram: THREAD_PROGRAM }), {
      log,
      counts,
      // The other end is `replica.ts` in this folder.
      measured: (measured) => addMeasured(measures, measured as Measured),
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
