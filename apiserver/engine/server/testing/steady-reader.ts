import { once } from 'node:events';
import type { TLSSocket } from 'node:tls';
import { ALL_BUT_TIMEOUTS } from './fake-timeouts';

const MEBIBYTE = 1_024 * 1_024;
/** More than the socket buffers of both sides, so that reading it requires the server to write. */
const STEP_BYTES = 24 * MEBIBYTE;

/** So large that the clock of a steady reader passes a stall's time twice over before it has it. */
export const LARGE_BYTES = 4 * STEP_BYTES;

/**
 * Sends a request and reads {@link LARGE_BYTES} of what comes, steadily but slowly: by a clock of its own, which goes on by a bit more than half of
 * `stallMsMax` whenever a step has come. Returns how many bytes came before the end or the cut.
 */
export async function readSteadily(socket: TLSSocket, request: string, stallMsMax: number): Promise<number> {
  jest.useFakeTimers({ doNotFake: [...ALL_BUT_TIMEOUTS] });
  let received = 0;
  let due = STEP_BYTES;
  const closed = once(socket, 'close');
  socket.on('data', (chunk: Buffer) => {
    received += chunk.length;
    if (received >= LARGE_BYTES) socket.destroy();
    else if (received >= due) {
      due += STEP_BYTES;
      jest.advanceTimersByTime(stallMsMax * 0.6);
    }
  });
  socket.write(request);
  await closed;
  jest.useRealTimers();
  return received;
}
