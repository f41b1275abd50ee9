import { createHash } from 'node:crypto';
import { loadKubeconfig } from '../../../shared/client/kubeconfig';
import type { RemoteReviewOptions } from './review-call';

/**
 * Returns a digest of the address, the authorities and the API version of a service. It leaves out the credentials, which differ between
 * replicas. Throws KubeconfigError for a file that cannot be used.
 */
export function serviceIdentity({
  configFile,
  version,
}: Pick<RemoteReviewOptions, 'configFile' | 'version'>): string {
  const { server, ca = '', tlsServerName = '' } = loadKubeconfig({ path: configFile }).client;
  const parts = [version, server, ca.toString(), tlsServerName];
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url');
}
