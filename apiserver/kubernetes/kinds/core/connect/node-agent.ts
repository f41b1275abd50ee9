import { RESOURCE } from '../../../../../shared/api/resource-names';
import type { Node, NodeAddress } from '../../../../../shared/api/types/core-v1';
import { StatusError } from '../../../../../shared/errors/status-error';
import type { ConnectionReader, Destination } from '../../../../engine/registry/connection';

/** Where the agent of a node listens. Throws NotFound, and an error of the server for a node without an address of a wanted type. */
export async function agentOf(
  reader: ConnectionReader,
  nodeName: string,
): Promise<Omit<Destination, 'path'>> {
  const { agents } = reader;
  const { status } = await reader.read<Node>(RESOURCE.nodes, nodeName);
  const port = status?.daemonEndpoints?.kubeletEndpoint?.Port ?? 0;
  return {
    scheme: agents.scheme,
    host: preferredAddress(status?.addresses ?? [], agents.addressTypes),
    port: port === 0 ? agents.port : port,
    peer: 'agent',
  };
}

function preferredAddress(addresses: readonly NodeAddress[], wanted: readonly string[]): string {
  for (const type of wanted) {
    const found = addresses.find((each) => each.type === type);
    if (found !== undefined) return found.address;
  }
  const known = addresses.map(({ type, address }) => `{${type} ${address}}`).join(' ');
  throw new StatusError('', `no preferred addresses found; known addresses: [${known}]`);
}
