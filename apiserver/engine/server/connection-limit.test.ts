import { once } from 'node:events';
import net from 'node:net';
import { silentLog } from '../../../shared/log/log';
import { eventually } from '../../../shared/testing/eventually';
import { descriptorShares } from '../request/descriptors';
import { newConnectionCounts } from './connection-counts';
import { limitConnections } from './connection-limit';

interface Limited {
  /** Opens a connection from an address of the loopback network and resolves when the server has it or refused it. */
  readonly connect: (localAddress: string) => Promise<net.Socket>;
  readonly counts: ReturnType<typeof newConnectionCounts>;
  readonly accepted: () => number;
}

const servers: net.Server[] = [];
const sockets: net.Socket[] = [];
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
  for (const server of servers.splice(0)) server.close();
});

async function start(max: number, perSourceMax: number): Promise<Limited> {
  const counts = newConnectionCounts();
  let accepted = 0;
  const server = net.createServer((socket) => {
    accepted += 1;
    socket.on('error', () => undefined).write('+');
  });
  servers.push(server);
  limitConnections(server, { max, perSourceMax, counts, log: silentLog });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as net.AddressInfo;
  return {
    counts,
    accepted: () => accepted,
    connect: async (localAddress) => {
      const socket = net.connect({ port, host: '127.0.0.1', localAddress }).on('error', () => undefined);
      sockets.push(socket);
      await Promise.race([once(socket, 'data'), once(socket, 'close')]);
      return socket;
    },
  };
}

test('an address has a bounded number of open connections, and gets another one when one is closed', async () => {
  const { connect, counts, accepted } = await start(100, 2);
  const first = await connect('127.0.0.1');
  await connect('127.0.0.1');
  expect((await connect('127.0.0.1')).destroyed).toBe(true);
  expect((await connect('127.0.0.2')).destroyed).toBe(false);
  expect([accepted(), counts.connectionsRefused]).toEqual([3, 1]);
  first.destroy();
  await eventually('there is room again', async () => !(await connect('127.0.0.1')).destroyed);
});

test('when all are taken, the newest of the address with the most gives way to one below its fair share', async () => {
  const { connect, counts } = await start(4, 4);
  const greedy: net.Socket[] = [];
  for (let at = 0; at < 4; at += 1) greedy.push(await connect('127.0.0.1'));
  expect((await connect('127.0.0.1')).destroyed).toBe(true);
  expect((await connect('127.0.0.2')).destroyed).toBe(false);
  await eventually('the newest is closed', () => greedy[3]?.destroyed === true);
  expect((await connect('127.0.0.2')).destroyed).toBe(false);
  await eventually('the next one is closed', () => greedy[2]?.destroyed === true);
  // Two of four are the fair share of both.
  expect((await connect('127.0.0.2')).destroyed).toBe(true);
  expect([greedy[0]?.destroyed, greedy[1]?.destroyed, counts.connectionsRefused]).toEqual([false, false, 4]);
});

test('clients never take the descriptors of the store, the threads and the connections to other servers', () => {
  expect(descriptorShares(20_000)).toEqual({ clients: 14_616, backends: 4_872 });
  expect(descriptorShares(256)).toEqual({ clients: 144, backends: 48 });
  expect(descriptorShares(Infinity)).toEqual({ clients: Infinity, backends: Infinity });
  expect(descriptorShares().clients).toBeGreaterThan(0);
});
