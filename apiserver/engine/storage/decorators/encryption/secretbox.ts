import type { KeyObject } from 'node:crypto';
import { randomBytes } from 'node:crypto';
import { xsalsa20poly1305 } from '@noble/ciphers/salsa';
import type { Sealer } from './sealer';

const NONCE_BYTES = 24;
const TAG_BYTES = 16;

/** NaCl's secretbox, XSalsa20 and Poly1305: `nonce | tag | bytes`. The key has 32 bytes. */
export function secretbox(key: KeyObject): Pick<Sealer, 'seal' | 'open'> {
  const secret = key.export();
  return {
    seal: (plain) => {
      const nonce = randomBytes(NONCE_BYTES);
      return Buffer.concat([nonce, xsalsa20poly1305(secret, nonce).encrypt(plain)]);
    },
    open: (sealed) => {
      if (sealed.length < NONCE_BYTES + TAG_BYTES) {
        throw new Error('the stored data was shorter than the required size');
      }
      const nonce = sealed.subarray(0, NONCE_BYTES);
      return Buffer.from(xsalsa20poly1305(secret, nonce).decrypt(sealed.subarray(NONCE_BYTES)));
    },
  };
}
