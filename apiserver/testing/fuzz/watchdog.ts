import { Worker } from 'node:worker_threads';
import { INPUT_BYTES_MAX } from './mutators/mutator';

/** The time limit for one input. The run then ends with it as a finding, because nothing else can end an endless loop. */
const STUCK_SECONDS = 60;

/** Ends the process when `tick` was not called for a minute, after writing the input of the last call to the file. */
export function startWatchdog(inputFile: string): {
  readonly tick: (input: Buffer) => void;
  readonly end: () => Promise<number>;
} {
  const state = new Int32Array(new SharedArrayBuffer(8));
  const bytes = Buffer.from(new SharedArrayBuffer(INPUT_BYTES_MAX));
  const workerData = { state, bytes, inputFile, seconds: STUCK_SECONDS };
  const worker = new Worker(SOURCE, { eval: true, workerData });
  worker.unref();
  return {
    tick: (input) => {
      input.copy(bytes);
      state[LENGTH] = Math.min(input.length, INPUT_BYTES_MAX);
      Atomics.add(state, TICKS, 1);
    },
    end: async () => worker.terminate(),
  };
}

const TICKS = 0;
const LENGTH = 1;

const SOURCE = `
const { writeFileSync, writeSync } = require('node:fs');
const { state, bytes, inputFile, seconds } = require('node:worker_threads').workerData;
let last = -1;
setInterval(() => {
  const now = Atomics.load(state, ${String(TICKS)});
  if (now === last) {
    writeFileSync(inputFile, bytes.subarray(0, state[${String(LENGTH)}]));
    writeSync(2, 'an input took longer than ' + seconds + ' seconds: ' + inputFile + '\\n');
    process.kill(process.pid, 'SIGKILL');
  }
  last = now;
}, seconds * 1000);
`;
