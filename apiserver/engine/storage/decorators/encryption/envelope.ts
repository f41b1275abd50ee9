import { createSecretKey, randomBytes } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { aesCbc } from './aes';
import type { KmsService } from './kms-service';
import type { Sealer } from './sealer';
import { sealedPrefix } from './sealer';

export interface EnvelopeOptions {
  /** The name of the provider, which is part of the stored prefix. */
  readonly name: string;
  readonly service: KmsService;
  /** Number of decrypted data keys to cache; negative disables the cache. */
  readonly cacheSize: number;
}

const KEY_BYTES = 32;
const LENGTH_BYTES = 2;
const KEY_BYTES_MAX = 0xffff;

/**
 * Envelope encryption: each value has its own data key, which is stored before it, encrypted by the service: `length | key | iv | blocks`.
 * Recently used data keys are cached, so that values this server wrote or read are decrypted without the service.
 */
export function createEnvelope({ name, service, cacheSize }: EnvelopeOptions): Sealer {
  const known =
    cacheSize > 0 ? new LRUCache<string, Pick<Sealer, 'seal' | 'open'>>({ max: cacheSize }) : undefined;
  const remember = (encrypted: Buffer, key: Buffer): Pick<Sealer, 'seal' | 'open'> => {
    const cipher = aesCbc(createSecretKey(key));
    known?.set(encrypted.toString('base64'), cipher);
    return cipher;
  };
  return {
    prefix: sealedPrefix('kms', name),
    seal: async (plain, recordKey) => {
      const key = randomBytes(KEY_BYTES);
      const encrypted = await service.encrypt(key);
      if (encrypted.length > KEY_BYTES_MAX) throw new Error(`${name} made a key that is too long`);
      const length = Buffer.alloc(LENGTH_BYTES);
      length.writeUInt16BE(encrypted.length);
      return Buffer.concat([length, encrypted, await remember(encrypted, key).seal(plain, recordKey)]);
    },
    open: (sealed, recordKey) => {
      const { encrypted, rest } = partsOf(sealed);
      const cipher = known?.get(encrypted.toString('base64'));
      if (cipher !== undefined) return cipher.open(rest, recordKey);
      return service.decrypt(encrypted).then((key) => remember(encrypted, key).open(rest, recordKey));
    },
    close: () => {
      service.close();
    },
  };
}

function partsOf(sealed: Buffer): { readonly encrypted: Buffer; readonly rest: Buffer } {
  const end = LENGTH_BYTES + (sealed.length < LENGTH_BYTES ? 0 : sealed.readUInt16BE());
  if (sealed.length < end) throw new Error('the stored data was shorter than the required size');
  return { encrypted: sealed.subarray(LENGTH_BYTES, end), rest: sealed.subarray(end) };
}
