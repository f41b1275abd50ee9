import { createHmac } from 'node:crypto';
import { CLUSTER_INFO } from '../../shared/client/cluster-info';
import type { BootstrapToken } from './token-secret';

/**
 * Computes a detached JSON Web Signature (RFC 7515) of a text by HS256: the payload between the two dots is empty and the verifier
 * inserts it in base64url. The key is the whole token, or its secret half in the Kubernetes dialect.
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
