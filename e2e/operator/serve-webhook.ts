import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import type { Connection } from 'orch/client';
import type { Site } from './site';
import { Sites } from './site';

interface Review {
  readonly request: { readonly uid: string; readonly object: Site };
}

export interface WebhookServer {
  readonly port: number;
  close(): Promise<void>;
}

export interface WebhookOptions {
  readonly client: Connection;
  /** PEM. */
  readonly cert: string;
  readonly key: string;
  /** 0 chooses a free one. */
  readonly port: number;
}

/** Serves the validating webhook of sites: a host is a DNS name, and no other site has it. */
export async function serveWebhook({ client, cert, key, port }: WebhookOptions): Promise<WebhookServer> {
  const server = createServer({ cert, key }, (request, response) => {
    const answer = async (): Promise<void> => {
      const { request: asked } = (await json(request)) as Review;
      const message = await refusalOf(client, asked.object);
      const decision = message === undefined ? { allowed: true } : { allowed: false, status: { message } };
      const review = { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview' };
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ ...review, response: { uid: asked.uid, ...decision } }));
    };
    answer().catch((error: unknown) => {
      response.writeHead(500).end(String(error));
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(port, resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    close: async () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

const HOST = /^(?:[a-z0-9]+(?:-+[a-z0-9]+)*\.)+[a-z]+$/u;

/** Why the site is refused; undefined if it is not. */
async function refusalOf(client: Connection, { metadata, spec }: Site): Promise<string | undefined> {
  if (!HOST.test(spec.host)) return `spec.host: "${spec.host}" is no DNS name`;
  const { items } = await client.of(Sites).list();
  const other = items.find((each) => each.spec.host === spec.host && each.metadata.uid !== metadata.uid);
  if (other === undefined) return undefined;
  return `spec.host: "${spec.host}" is the host of ${other.metadata.namespace}/${other.metadata.name}`;
}
