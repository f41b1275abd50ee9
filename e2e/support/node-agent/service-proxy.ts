import type { AddressInfo, Server, Socket } from 'node:net';
import { connect, createServer } from 'node:net';

/** The current endpoints of a Service. */
export interface Endpoint {
  readonly ip: string;
  readonly port: number;
}

/**
 * Listens at the address of a Service and forwards each new connection to the next endpoint. An open connection stays when its endpoint is
 * removed.
 */
export async function startServiceProxy(
  address: Endpoint,
  endpoints: () => readonly Endpoint[],
): Promise<{ readonly address: AddressInfo; close(): void }> {
  const sockets = new Set<Socket>();
  let turn = 0;
  const server: Server = createServer((client) => {
    const ready = endpoints();
    const target = ready[turn++ % Math.max(1, ready.length)];
    sockets.add(client);
    client.once('close', () => sockets.delete(client));
    client.on('error', () => undefined);
    if (target === undefined) {
      client.destroy();
      return;
    }
    const upstream = connect({ host: target.ip, port: target.port });
    upstream.on('error', () => client.destroy());
    upstream.once('close', () => client.destroy());
    client.once('close', () => upstream.destroy());
    client.pipe(upstream).pipe(client);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(address.port, address.ip, resolve);
  });
  return {
    address: server.address() as AddressInfo,
    close() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}
