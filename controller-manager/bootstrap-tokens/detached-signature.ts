import { createHmac } from 'node:crypto';
import { CLUSTER_INFO } from '../../shared/client/cluster-info';
import type { BootstrapToken } from './token-secret';

/**
 * A JSON Web Signature (RFC 7515) of a text by HS256, without the text itself: between the two dots stands nothing, and whoever verifies it puts
 * the text there, in base64url. The key is the whole token, or in the Kubernetes dialect its secret half.
 */
export function detachedSignature(
  content: string,
  { id, secret }: BootstrapToken,
  signedWith: 'token' | 'secret' = CLUSTER_INFO.signedWith,
): string {
  const header = Buffer.from(JSON.stringify({ alg: 'HS256', kid: id })).toString('base64url');
  const payload = Buffer.from(content).toString('base64url');
  const signature = createHmac('sha256', signedWith === 'token' ? `${id}.${secret}` : secret)
    .update(`${header}.${payload}`)
    .digest('base64url');
  return `${header}..${signature}`;
}
