import { createHmac } from 'node:crypto';
import type { BootstrapToken } from './token-secret';

/**
 * A JSON Web Signature (RFC 7515) of a text by HS256 with the whole token as the secret, without the text itself: between the two dots
 * stands nothing, and whoever verifies it puts the text there, in base64url.
 */
export function detachedSignature(content: string, { id, secret }: BootstrapToken): string {
  const header = Buffer.from(JSON.stringify({ alg: 'HS256', kid: id })).toString('base64url');
  const payload = Buffer.from(content).toString('base64url');
  const signature = createHmac('sha256', `${id}.${secret}`)
    .update(`${header}.${payload}`)
    .digest('base64url');
  return `${header}..${signature}`;
}
