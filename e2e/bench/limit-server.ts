/**
 * The limit in the benchmarks: a bare Node HTTPS server with the same certificate that sends the same prepared bytes. It receives one
 * Limit from its parent and replies with its port. Then `tick` sends the frame to every watcher, and `begin` and `end` measure its event
 * loop; `end` is answered with the measurement.
 */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { LoopProbe } from './loop-probe';

export interface Limit {
  readonly certFile: string;
  readonly keyFile: string;
  /** Files whose bytes are the answers, by path, a space and the Accept header. */
  readonly answers: Readonly<Record<string, string>>;
  /** A file that holds one watch frame. */
  readonly frameFile: string;
}

const BATCH_BYTES = 256 * 1024;
const PING_PATH = '/livez/ping';

process.on('disconnect', () => process.exit(0));
process.once('message', (limit: Limit) => {
  const answers = new Map(Object.entries(limit.answers).map(([path, file]) => [path, readFileSync(file)]));
  const frame = readFileSync(limit.frameFile);
  const watchers = new Set<ServerResponse>();
  const loop = new LoopProbe();
  const server = createServer({ cert: readFileSync(limit.certFile), key: readFileSync(limit.keyFile) });
  server.on('request', (request, response: ServerResponse) => {
    const bytes = answers.get(`${request.url ?? ''} ${request.headers.accept ?? ''}`);
    response.setHeader('content-type', 'application/json');
    if (request.url === PING_PATH) {
      response.end('ok');
    } else if (bytes === undefined) {
      watchers.add(response);
      response.once('close', () => watchers.delete(response));
      response.flushHeaders();
    } else if (bytes.length <= BATCH_BYTES) {
      response.end(bytes);
    } else {
      Readable.from(batchesOf(bytes)).pipe(response);
    }
  });
  process.on('message', (word) => {
    if (word === 'begin') {
      loop.begin();
      process.send?.('ready');
      return;
    }
    if (word === 'end') {
      process.send?.(loop.end());
      return;
    }
    for (const watcher of watchers) watcher.write(frame);
    process.send?.('ticked');
  });
  server.listen(0, '127.0.0.1', () => {
    process.send?.((server.address() as AddressInfo).port);
  });
});

function* batchesOf(bytes: Buffer): Generator<Buffer> {
  for (let at = 0; at < bytes.length; at += BATCH_BYTES) yield bytes.subarray(at, at + BATCH_BYTES);
}
