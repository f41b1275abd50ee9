import { Session } from 'node:inspector';
import { sleep } from '../../../../shared/concurrency/abort';

/** Profiles in V8’s format, which Chrome’s developer tools and editors open. */
export const PROFILE_KINDS = ['profile', 'heap'] as const;
export type ProfileKind = (typeof PROFILE_KINDS)[number];

/** The sampling interval of the CPU in microseconds, and of allocations in bytes. */
const CPU_INTERVAL_US = 1_000;
const HEAP_INTERVAL_BYTES = 32_768;

/** The methods of the inspector’s protocol. */
const METHODS = {
  profile: {
    prepare: [
      ['Profiler.enable', {}],
      ['Profiler.setSamplingInterval', { interval: CPU_INTERVAL_US }],
    ],
    start: ['Profiler.start', {}],
    stop: ['Profiler.stop', {}],
  },
  heap: {
    prepare: [],
    start: ['HeapProfiler.startSampling', { samplingInterval: HEAP_INTERVAL_BYTES }],
    stop: ['HeapProfiler.stopSampling', {}],
  },
} as const satisfies Record<ProfileKind, Method>;

type Call = readonly [method: string, parameters: object];

interface Method {
  readonly prepare: readonly Call[];
  readonly start: Call;
  readonly stop: Call;
}

/** Records profiles of this thread, one at a time, as each slows it down a little. */
export class Profiler {
  #isRecording = false;

  /**
   * Records a profile and returns it as JSON; undefined while another one is recorded. Rejects when the signal
   * aborts, and stops the recording.
   */
  async recordingOf(kind: ProfileKind, seconds: number, signal: AbortSignal): Promise<Buffer | undefined> {
    if (this.#isRecording) return undefined;
    this.#isRecording = true;
    const session = new Session();
    try {
      session.connect();
      const { prepare, start, stop } = METHODS[kind];
      for (const call of [...prepare, start]) await post(session, call);
      await sleep(seconds * 1_000, signal);
      const { profile } = await post(session, stop);
      return Buffer.from(JSON.stringify(profile));
    } finally {
      // Disconnecting ends a recording that was not stopped.
      session.disconnect();
      this.#isRecording = false;
    }
  }
}

async function post(session: Session, [method, parameters]: Call): Promise<{ readonly profile?: unknown }> {
  return new Promise((resolve, reject) => {
    session.post(method, parameters, (error, result?: { readonly profile?: unknown }) => {
      if (error === null) resolve(result ?? {});
      else reject(error);
    });
  });
}
