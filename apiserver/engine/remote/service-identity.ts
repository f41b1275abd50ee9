import { createHash } from 'node:crypto';
import { loadKubeconfig } from '../../../shared/client/kubeconfig';
import type { RemoteReviewOptions } from './review-call';

/**
 * A digest of which service is asked, and in which version: its address and its authorities, not the credentials by which one replica is known to
 * it. Throws KubeconfigError for a file that cannot be used.
 */
export function serviceIdentity({
  configFile,
  version,
}: Pick<RemoteReviewOptions, 'configFile' | 'version'>): string {
  const { server, ca = '', tlsServerName = '' } = loadKubeconfig({ path: configFile }).client;
  const parts = [version, server, ca.toString(), tlsServerName];
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url');
}
