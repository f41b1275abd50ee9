import * as net from 'node:net';

/** A TCP proxy whose connections a test can cut. */
export interface TestProxy {
  readonly url: string;
  /** Cuts one connection in the middle of a frame after the server has sent this many more bytes. */
  cutAfter(bytes: number): void;
  /** How many bytes of the server's have come here. */
  passedBytes(): number;
  /** How often `cutAfter` took effect. */
  cuts(): number;
  /**
   * Stalls a connection after the server has sent this many more bytes, without closing it: all later bytes of both sides are
   * dropped.
   */
  swallowAfter(bytes: number): void;
  /** How often `swallowAfter` took effect. */
  swallowed(): number;
  /** Sends new connections to another server. */
  retarget(url: string): void;
  cutAll(): void;
  /** Keeps all connections and passes nothing on, as a host does that hangs. */
  freeze(): void;
  thaw(): void;
  close(): Promise<void>;
}

/** `bytesPerMs` is how fast the server's bytes pass; without it there is no limit. */
export async function startProxy(
  targetUrl: string,
  { bytesPerMs = Number.POSITIVE_INFINITY } = {},
): Promise<TestProxy> {
  let target = new URL(targetUrl);
  let passed = 0;
  let budget = Number.POSITIVE_INFINITY;
  let cuts = 0;
  let swallowBudget = Number.POSITIVE_INFINITY;
  let swallowed = 0;
  let isFrozen = false;
  const open = new Set<net.Socket>();
  const server = net.createServer((socket) => {
    const upstream = net.connect(Number(target.port), target.hostname);
    const drop = (): void => {
      socket.destroy();
      upstream.destroy();
      open.delete(socket);
      open.delete(upstream);
    };
    open.add(socket);
    open.add(upstream);
    socket.on('error', drop).on('close', drop);
    upstream.on('error', drop).on('close', drop);
    let isSwallowing = false;
    socket.pipe(upstream);
    upstream.on('data', (chunk: Buffer) => {
      passed += chunk.length;
      if (isSwallowing) return;
      swallowBudget -= chunk.length;
      if (swallowBudget < 0) {
        swallowBudget = Number.POSITIVE_INFINITY;
        swallowed++;
        isSwallowing = true;
        socket.unpipe(upstream).resume();
        return;
      }
      budget -= chunk.length;
      if (budget < 0) {
        // Half of the chunk, so that a frame is torn too.
        budget = Number.POSITIVE_INFINITY;
        cuts++;
        socket.write(chunk.subarray(0, chunk.length / 2), () => socket.resetAndDestroy());
        upstream.destroy();
        return;
      }
      const restMs = chunk.length / bytesPerMs;
      if (restMs > 0) {
        socket.write(chunk);
        upstream.pause();
        setTimeout(() => (isFrozen ? undefined : upstream.resume()), restMs);
      } else if (!socket.write(chunk)) {
        upstream.pause();
        socket.once('drain', () => (isFrozen ? undefined : upstream.resume()));
      }
    });
    if (isFrozen) {
      socket.pause();
      upstream.pause();
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${String((server.address() as net.AddressInfo).port)}`,
    cutAfter: (bytes) => {
      budget = bytes;
    },
    passedBytes: () => passed,
    cuts: () => cuts,
    swallowAfter: (bytes) => {
      swallowBudget = bytes;
    },
    swallowed: () => swallowed,
    retarget: (url) => {
      target = new URL(url);
    },
    freeze: () => {
      isFrozen = true;
      for (const socket of open) socket.pause();
    },
    thaw: () => {
      isFrozen = false;
      for (const socket of open) socket.resume();
    },
    cutAll: () => {
      for (const socket of open) socket.resetAndDestroy();
    },
    close: async () => {
      for (const socket of open) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
