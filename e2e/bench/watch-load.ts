import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { request } from 'node:https';
import type { IncomingMessage } from 'node:http';
import type { TLSSocket } from 'node:tls';
import { connect } from 'node:tls';
import type { Target, WatchLoad, WatchResult } from './messages';
import { monotonicMs } from './messages';

/**
 * Raw TLS sockets that only search the ends of frames, so that a thousand watchers are cheap for this process. With `events`, one
 * additional watcher decodes all events. Sends its result when all watchers have their events, or at a message. Ended watches are counted.
 */
export async function runWatches(load: WatchLoad): Promise<WatchResult> {
  const { watchers, events } = load;
  const state: State = {
    arrivals: new Float64Array(watchers * events),
    ended: 0,
    unfinished: watchers,
    beyond: 0,
  };
  const versions: string[] = [];
  const stopped = once(process, 'message');
  const finished = new Promise<void>((resolve) => {
    state.onFinished = resolve;
  });
  const sockets: TLSSocket[] = [];
  for (let index = 0; index < watchers; index++) sockets.push(await openWatch(load, index, state));
  const decoded = events === 0 ? undefined : (await decodeWatch(load, versions)).done;
  process.send?.('ready');
  await Promise.race([stopped, Promise.all([finished, decoded])]);
  state.isOver = true;
  for (const socket of sockets) socket.destroy();
  const { arrivals, ended, beyond } = state;
  return { arrivals, versions, ended, beyond };
}

interface State {
  /** The arrival of event e at watcher w is at `e * watchers + w`; 0 is never. */
  readonly arrivals: Float64Array;
  ended: number;
  unfinished: number;
  /** Frames after the last expected one. */
  beyond: number;
  isOver?: boolean;
  onFinished?: () => void;
}

const LINE_FEED = 0x0a;
const BRACE = 0x7d;
const ACCEPTED = 'HTTP/1.1 200';
const STATUS_BYTES = ACCEPTED.length;

async function openWatch(load: WatchLoad, index: number, state: State): Promise<TLSSocket> {
  const { target, path, watchers, events } = load;
  const socket = await openSocket(target);
  socket.write(
    `GET ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${target.token}\r\nAccept: application/json\r\n\r\n`,
  );
  let status: string | undefined;
  let seen = 0;
  let previous = 0;
  const take = (chunk: Buffer): void => {
    const now = monotonicMs();
    status ??= chunk.toString('latin1', 0, STATUS_BYTES);
    for (let at = chunk.indexOf(LINE_FEED); at !== -1; at = chunk.indexOf(LINE_FEED, at + 1)) {
      // A frame ends with a brace and a line feed; chunk headers do not.
      if ((at === 0 ? previous : chunk[at - 1]) !== BRACE) continue;
      if (seen < events) state.arrivals[seen * watchers + index] = now;
      else state.beyond++;
      if (++seen === events && --state.unfinished === 0) state.onFinished?.();
    }
    previous = chunk.at(-1) ?? previous;
  };
  socket.on('data', take);
  socket.on('close', () => {
    if (state.isOver !== true) state.ended++;
  });
  await once(socket, 'data');
  if (status !== ACCEPTED) throw new Error(`A watch was answered ${String(status)}.`);
  return socket;
}

async function openSocket({ server, caFile }: Target): Promise<TLSSocket> {
  const { hostname, port } = new URL(server);
  const socket = connect({ host: hostname, port: Number(port), ca: readFileSync(caFile) });
  await once(socket, 'secureConnect');
  socket.on('error', () => undefined);
  return socket;
}

/** Resolves when the watch is open; `done` resolves to the versions of all events. */
async function decodeWatch(
  { target, path, events }: WatchLoad,
  versions: string[],
): Promise<{ readonly done: Promise<void> }> {
  const sent = request(new URL(path, target.server), {
    agent: false,
    ca: readFileSync(target.caFile),
    headers: { authorization: `Bearer ${target.token}`, accept: 'application/json' },
  });
  sent.end();
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  const decode = async (): Promise<void> => {
    let rest = '';
    response.setEncoding('utf8');
    for await (const chunk of response as AsyncIterable<string>) {
      const lines = (rest + chunk).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) {
        const event = JSON.parse(line) as { object: { metadata: { resourceVersion?: string } } };
        versions.push(event.object.metadata.resourceVersion ?? '');
      }
      if (versions.length >= events) return;
    }
  };
  return { done: decode() };
}
