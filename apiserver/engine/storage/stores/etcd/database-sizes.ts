import { sleep } from '../../../../../shared/concurrency/abort';
import { METHODS } from './codec';
import type { EtcdClient } from './etcd-client';

/** Asks every member for the size of its database file, every so often, until the signal aborts; a member that does not answer keeps none. */
export async function keepDatabaseSizes(
  client: EtcdClient,
  { sizes, intervalMs }: { readonly sizes: Map<string, number>; readonly intervalMs: number },
  signal: AbortSignal,
): Promise<void> {
  if (intervalMs === 0) return;
  while (!signal.aborted) {
    await Promise.all(
      client.endpointUrls.map(async (endpoint) => {
        const size = await databaseSize(client, endpoint, signal);
        if (size === undefined) sizes.delete(endpoint);
        else sizes.set(endpoint, size);
      }),
    );
    await sleep(intervalMs, signal).catch(() => undefined);
  }
}

/** Bytes. The other calls have a connection to one member only, so that this one has its own. */
async function databaseSize(
  client: EtcdClient,
  endpoint: string,
  signal: AbortSignal,
): Promise<number | undefined> {
  const transport = client.connect(endpoint);
  try {
    await transport.ready(client.dialTimeoutMs, signal);
    const token = await client.tokens?.get(transport, signal);
    const options = { timeoutMs: client.dialTimeoutMs, signal, token };
    return (await transport.unary(METHODS.status, {}, options)).dbSizeBytes;
  } catch {
    return undefined;
  } finally {
    transport.close();
  }
}
