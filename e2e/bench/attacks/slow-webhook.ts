import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import path from 'node:path';

const SLOW_MS = 4_000;

/** A webhook that refuses objects named `evil…` and answers slowly for `slow…`. */
export interface SlowWebhook {
  readonly url: string;
  /** PEM. */
  readonly authority: string;
  close(): Promise<void>;
}

interface Review {
  readonly apiVersion: string;
  readonly request: { readonly uid: string; readonly name?: string };
}

/** Serves with the certificate of the API server in `certDir`. */
export async function startSlowWebhook(certDir: string): Promise<SlowWebhook> {
  const read = (name: string): string => readFileSync(path.join(certDir, name), 'utf8');
  const server = createServer({ cert: read('apiserver.crt'), key: read('apiserver.key') });
  server.on('request', (request, response) => {
    answer(request, response).catch(() => response.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `https://127.0.0.1:${String(port)}/`,
    authority: read('ca.crt'),
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  const review = JSON.parse(Buffer.concat(chunks).toString()) as Review;
  const { uid, name = '' } = review.request;
  const send = (): void => {
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ ...review, response: { uid, allowed: !name.startsWith('evil') } }));
  };
  if (name.startsWith('slow')) setTimeout(send, SLOW_MS).unref();
  else send();
}
