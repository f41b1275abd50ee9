import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { ensureServingCertificate } from '../../../shared/certs/serving-certificate';
import { GROUP } from '../../../shared/names';
import type { InProcessApi } from '../in-process-api';

/** An extension API server that answers with a function of the test. */
export interface OtherServer {
  readonly port: number;
  readonly caBundle: string;
  /** Stops the server and closes its connections. */
  close(): Promise<void>;
}

const SERVICE = { namespace: 'default', name: 'wardle' } as const;

export async function startOtherServer(
  answer: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<OtherServer> {
  const dir = mkdtempSync(path.join(tmpdir(), 'orch-other-server-'));
  const files = ensureServingCertificate({ dir, hosts: [`${SERVICE.name}.${SERVICE.namespace}.svc`] });
  const server = createServer(
    { cert: readFileSync(files.certFile), key: readFileSync(files.keyFile) },
    answer,
  );
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    caBundle: readFileSync(files.caFile).toString('base64'),
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
      rmSync(dir, { recursive: true });
    },
  };
}

/** Creates the Service of the extension API server, which resolves to this host. */
export async function leadToOtherServer(api: InProcessApi): Promise<void> {
  await create(api, '/api/v1/namespaces/default/services', {
    metadata: { name: SERVICE.name },
    spec: { type: 'ExternalName', externalName: 'localhost' },
  });
}

/** Creates an APIService for the extension API server. */
export async function registerOtherServer(
  api: InProcessApi,
  { port, caBundle }: OtherServer,
  {
    group,
    version,
    priority = 100,
  }: { readonly group?: string; readonly version: string; readonly priority?: number },
): Promise<void> {
  await create(api, `/apis/${GROUP.apiregistration}/v1/apiservices`, {
    metadata: { name: `${version}.${group ?? ''}` },
    spec: {
      group,
      version,
      groupPriorityMinimum: priority,
      versionPriority: 10,
      service: { ...SERVICE, port },
      caBundle,
    },
  });
}

async function create(api: InProcessApi, url: string, body: object): Promise<void> {
  const { code, text } = await api.call('POST', url, { body });
  if (code !== 201) throw new Error(`${url} was answered with ${String(code)}: ${text}`);
}
