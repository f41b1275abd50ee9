import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import { Agent, request as httpsRequest } from 'node:https';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { connect } from 'orch/client';
import type { Link } from './operator-suite';

export interface ProxiedServer {
  /** `https://127.0.0.1:6443`. */
  readonly server: string;
  readonly ca: Buffer;
  /** Of a user that may impersonate. */
  readonly token: string;
}

const EXPIRED = {
  apiVersion: 'v1',
  kind: 'Status',
  metadata: {},
  status: 'Failure',
  message: 'too old resource version',
  reason: 'Expired',
  code: 410,
};

/** Connects a client as a user by a proxy that makes faults, so that they strike the same with any server. */
export async function startFaultProxy(upstream: ProxiedServer, user: string): Promise<Link> {
  const agent = new Agent({ keepAlive: true, ca: upstream.ca });
  const answers: { method: string; path: string; code: number }[] = [];
  const watches = new Map<ServerResponse, string>();
  let conflicts = 0;
  let isPartitioned = false;

  const forward = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { method = 'GET', url = '/' } = request;
    let body: Buffer = await buffer(request);
    if (method === 'PUT' && /\/sites\//u.test(url) && conflicts > 0) {
      conflicts -= 1;
      body = withStaleVersion(body);
    }
    const headers = {
      ...request.headers,
      host: new URL(upstream.server).host,
      'content-length': String(body.length),
      authorization: `Bearer ${upstream.token}`,
      'impersonate-user': user,
    };
    const call = httpsRequest(upstream.server + url, { agent, method, headers }, (answer) => {
      answers.push({ method, path: url, code: answer.statusCode ?? 0 });
      response.writeHead(answer.statusCode ?? 0, answer.headers);
      if (/[?&]watch=(?:true|1)/u.test(url)) {
        watches.set(response, url);
        response.flushHeaders();
      }
      answer.on('error', () => response.destroy());
      answer.pipe(response);
    });
    call.on('error', () => response.destroy());
    // A watch that was ended as expired may still get an event of the server.
    response.on('error', () => response.destroy());
    response.once('close', () => {
      watches.delete(response);
      call.destroy();
    });
    call.end(body);
  };
  const proxy = createServer((request, response) => {
    if (isPartitioned) request.destroy();
    else forward(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => {
    proxy.listen(0, '127.0.0.1', resolve);
  });
  const { port } = proxy.address() as AddressInfo;
  const client = connect({ server: `http://127.0.0.1:${String(port)}` });
  const cutWatches = (): void => {
    for (const response of watches.keys()) response.destroy();
  };
  return {
    client,
    answers,
    conflict: (times) => {
      conflicts += times;
    },
    cutWatches,
    expireWatches: () => {
      for (const [response, url] of watches)
        if (url.includes('/sites?')) response.end(`${JSON.stringify({ type: 'ERROR', object: EXPIRED })}\n`);
    },
    partition: () => {
      isPartitioned = true;
      proxy.closeAllConnections();
    },
    close: async () => {
      client.close();
      await new Promise((resolve) => {
        proxy.close(resolve);
        proxy.closeAllConnections();
      });
      agent.destroy();
    },
  };
}

/** The server itself refuses the update then. */
function withStaleVersion(body: Buffer): Buffer {
  const object = JSON.parse(body.toString()) as { readonly metadata: object };
  return Buffer.from(JSON.stringify({ ...object, metadata: { ...object.metadata, resourceVersion: '1' } }));
}
