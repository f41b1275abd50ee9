import { once } from 'node:events';
import { Duplex } from 'node:stream';
import { deferred } from './testing/client';
import { WatchedSocket } from './watched-socket';

interface Bench {
  /** What the connection brings. */
  readonly socket: Duplex;
  readonly watched: WatchedSocket;
  /** Ends the write that is under way. */
  readonly written: () => void;
}

/** Two bytes are read in each turn. */
function open(): Bench {
  let done: () => void = () => undefined;
  const socket = new Duplex({
    read: () => undefined,
    write: (_chunk, _encoding, callback) => {
      done = callback;
    },
  });
  const watched = new WatchedSocket(socket, (bytes, from) => Math.min(from + 2, bytes.length));
  return { socket, watched, written: () => done() };
}

async function turn(): Promise<void> {
  await new Promise(setImmediate);
}

test('bytes received before the end are read over several turns, then the end', async () => {
  const { socket, watched } = open();
  let text = '';
  let inThisTurn = 0;
  let mostInATurn = 0;
  watched.on('data', (bytes: Buffer) => {
    text += bytes.toString();
    inThisTurn += 1;
    mostInATurn = Math.max(mostInATurn, inThisTurn);
  });
  let isOver = false;
  const nextTurn = (): void => {
    inThisTurn = 0;
    if (!isOver) setImmediate(nextTurn);
  };
  setImmediate(nextTurn);
  const end = once(watched, 'end');
  socket.push('abcdefghijklmnopqrstuvwxyz');
  socket.push(null);
  await end;
  isOver = true;
  expect(text).toBe('abcdefghijklmnopqrstuvwxyz');
  expect(mostInATurn).toBeLessThan(4);
});

describe('whenRead', () => {
  test('calls back once all bytes received before are read, not later ones', async () => {
    const { socket, watched } = open();
    let text = '';
    watched.on('data', (bytes: Buffer) => {
      text += bytes.toString();
    });
    const read = deferred<string>();
    socket.once('data', () => {
      watched.whenRead(() => read.resolve(text));
      socket.push('Z'.repeat(1_000));
    });
    socket.push('abcdefgh');
    expect((await read.promise).slice(0, 8)).toBe('abcdefgh');
    expect(text.length).toBeLessThan(100);
    watched.destroy();
  });

  test('waits while the reader pauses', async () => {
    const { socket, watched } = open();
    watched.on('data', () => undefined);
    watched.pause();
    let isRead = false;
    socket.once('data', () => watched.whenRead(() => (isRead = true)));
    socket.push('abcd');
    for (let turns = 0; turns < 10; turns += 1) await turn();
    expect(isRead).toBe(false);
    watched.resume();
    for (let turns = 0; turns < 10; turns += 1) await turn();
    expect(isRead).toBe(true);
    watched.destroy();
  });

  test('waits while the session writes', async () => {
    const { socket, watched, written } = open();
    watched.resume();
    watched.write('answer');
    let isRead = false;
    socket.once('data', () => watched.whenRead(() => (isRead = true)));
    socket.push('abcd');
    for (let turns = 0; turns < 10; turns += 1) await turn();
    expect(isRead).toBe(false);
    written();
    for (let turns = 0; turns < 10; turns += 1) await turn();
    expect(isRead).toBe(true);
    watched.destroy();
  });
});
