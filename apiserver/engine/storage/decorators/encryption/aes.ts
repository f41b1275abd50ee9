import type { KeyObject } from 'node:crypto';
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import type { Sealer } from './sealer';

type Cipher = Pick<Sealer, 'seal' | 'open'>;

const BLOCK_BYTES = 16;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const BITS_PER_BYTE = 8;

/** AES in CBC mode with PKCS#7: `iv | blocks`. Nothing is authenticated, as in Kubernetes. The key has 16, 24 or 32 bytes. */
export function aesCbc(key: KeyObject): Cipher {
  const algorithm = `aes-${bitsOf(key)}-cbc`;
  return {
    seal: (plain) => {
      const iv = randomBytes(BLOCK_BYTES);
      const cipher = createCipheriv(algorithm, key, iv);
      return Buffer.concat([iv, cipher.update(plain), cipher.final()]);
    },
    open: (sealed) => {
      if (sealed.length < 2 * BLOCK_BYTES) throw new Error(TOO_SHORT);
      const decipher = createDecipheriv(algorithm, key, sealed.subarray(0, BLOCK_BYTES));
      return Buffer.concat([decipher.update(sealed.subarray(BLOCK_BYTES)), decipher.final()]);
    },
  };
}

/** AES in GCM mode: `nonce | bytes | tag`, with the key of the record as authenticated data. The key has 16, 24 or 32 bytes. */
export function aesGcm(key: KeyObject): Cipher {
  const algorithm = `aes-${bitsOf(key)}-gcm` as 'aes-256-gcm';
  return {
    seal: (plain, recordKey) => {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv(algorithm, key, nonce).setAAD(Buffer.from(recordKey));
      return Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
    },
    open: (sealed, recordKey) => {
      if (sealed.length < NONCE_BYTES + TAG_BYTES) throw new Error(TOO_SHORT);
      const end = sealed.length - TAG_BYTES;
      const decipher = createDecipheriv(algorithm, key, sealed.subarray(0, NONCE_BYTES))
        .setAAD(Buffer.from(recordKey))
        .setAuthTag(sealed.subarray(end));
      return Buffer.concat([decipher.update(sealed.subarray(NONCE_BYTES, end)), decipher.final()]);
    },
  };
}

const TOO_SHORT = 'the stored data was shorter than the required size';

function bitsOf(key: KeyObject): string {
  return String((key.symmetricKeySize ?? 0) * BITS_PER_BYTE);
}
