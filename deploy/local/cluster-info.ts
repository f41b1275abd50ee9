import { readFileSync } from 'node:fs';
import { createClient } from '../../shared/client/client';
import { ensureClusterInfo } from '../../shared/client/cluster-info';
import { loadKubeconfig } from '../../shared/client/kubeconfig';

const DEADLINE_MS = 60_000;

/** Creates the ConfigMap `cluster-info` for joining nodes, readable without credentials. `kubeconfig` is that of the administrator. */
export async function publishClusterInfo({
  kubeconfig,
  server,
  caFile,
}: {
  readonly kubeconfig: string;
  readonly server: string;
  readonly caFile: string;
}): Promise<void> {
  const client = createClient({ ...loadKubeconfig({ path: kubeconfig }).client, userAgent: 'orch-local' });
  try {
    const authorities = readFileSync(caFile, 'utf8');
    await ensureClusterInfo(client, { server, authorities }, AbortSignal.timeout(DEADLINE_MS));
  } finally {
    client.close();
  }
}
