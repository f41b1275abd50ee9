import { createSecretKey } from 'node:crypto';
import { aesCbc, aesGcm } from './aes';
import { createEnvelope } from './envelope';
import type { KmsService } from './kms-service';
import { secretbox } from './secretbox';
import { IDENTITY, sealedPrefix } from './sealer';

const PLAIN = Buffer.from('{"kind":"Secret"}');
const KEY = createSecretKey(Buffer.from(Array.from({ length: 32 }, (_, index) => index)));
const RECORD = '/registry/core/secrets/default/a';

/** Turns every bit around. */
const service: KmsService = {
  encrypt: async (plain) => Promise.resolve(Buffer.from(plain.map((byte) => byte ^ 0xff))),
  decrypt: async (cipher) => Promise.resolve(Buffer.from(cipher.map((byte) => byte ^ 0xff))),
  close: () => undefined,
};

/** As the library of another language made them of the same key, nonce and record. */
const FOREIGN = {
  aescbc: '000102030405060708090a0b0c0d0e0f1e99f42a87db9ef8ab2a289efc82058d9b6df3c3b806157e27663d659124bb7a',
  aesgcm: '000102030405060708090a0b3c20bd72ab81e021af12f2e8c38c0c4ffe6a045999635a5c7e0a4f751fa8328b71',
  kms: '0020dfdedddcdbdad9d8d7d6d5d4d3d2d1d0cfcecdcccbcac9c8c7c6c5c4c3c2c1c0000102030405060708090a0b0c0d0e0f8ea8efcf53bdafed4c52ac7ce0817ca2db8a5c79ad3a2e81f8598f5986d8a5d4',
} as const;

const SEALERS = {
  aescbc: aesCbc(KEY),
  aesgcm: aesGcm(KEY),
  secretbox: secretbox(KEY),
  kms: createEnvelope({ name: 'test', service, cacheSize: -1 }),
} as const;

test.each(Object.keys(FOREIGN) as (keyof typeof FOREIGN)[])('%s reads what others wrote', async (kind) => {
  expect(await SEALERS[kind].open(Buffer.from(FOREIGN[kind], 'hex'), RECORD)).toEqual(PLAIN);
});

test('secretbox reads the example of its authors', () => {
  const key = createSecretKey(
    Buffer.from('1b27556473e985d462cd51197a9a46c76009549eac6474f206c4ee0844f68389', 'hex'),
  );
  const nonce = '69696ee955b62b73cd62bda875fc73d68219e0036b7a0b37';
  const sealed =
    'f3ffc7703f9400e52a7dfb4b3d3305d98e993b9f48681273c29650ba32fc76ce48332ea7164d96a4476fb8c531a1186ac0dfc17c98dce87b4da7f011ec48c97271d2c20f9b928fe2270d6fb863d51738b48eeee314a7cc8ab932164548e526ae90224368517acfeabd6bb3732bc0e9da99832b61ca01b6de56244a9e88d5f9b37973f622a43d14a6599b1f654cb45a74e355a5';
  const plain =
    'be075fc53c81f2d5cf141316ebeb0c7b5228c52a4c62cbd44b66849b64244ffce5ecbaaf33bd751a1ac728d45e6c61296cdc3c01233561f41db66cce314adb310e3be8250c46f06dceea3a7fa1348057e2f6556ad6b1318a024a838f21af1fde048977eb48f59ffd4924ca1c60902e52f0a089bc76897040e082f937763848645e0705';
  expect(secretbox(key).open(Buffer.from(nonce + sealed, 'hex'), RECORD)).toEqual(Buffer.from(plain, 'hex'));
});

describe.each(Object.entries(SEALERS))('%s', (_kind, sealer) => {
  test('reads what it wrote, and writes it differently each time', async () => {
    const sealed = await sealer.seal(PLAIN, RECORD);
    expect(await sealer.open(sealed, RECORD)).toEqual(PLAIN);
    expect(sealed.includes('Secret')).toBe(false);
    expect(await sealer.seal(PLAIN, RECORD)).not.toEqual(sealed);
  });

  test('refuses what is cut off', async () => {
    const sealed = await sealer.seal(PLAIN, RECORD);
    for (const length of [0, 1, sealed.length - 1]) {
      await expect((async () => sealer.open(sealed.subarray(0, length), RECORD))()).rejects.toThrow(
        /short|length|final|tag|auth/i,
      );
    }
  });
});

test('with aesgcm a value counts only where it was written', async () => {
  const sealed = await SEALERS.aesgcm.seal(PLAIN, RECORD);
  expect(() => SEALERS.aesgcm.open(sealed, `${RECORD}b`)).toThrow(/authenticate/);
});

test('aes keys of all lengths fit', async () => {
  for (const bytes of [16, 24, 32]) {
    const key = createSecretKey(Buffer.alloc(bytes, 7));
    for (const { seal, open } of [aesCbc(key), aesGcm(key)]) {
      expect(await open(await seal(PLAIN, RECORD), RECORD)).toEqual(PLAIN);
    }
  }
});

test('identity rejects encrypted values, so that another provider decrypts them', () => {
  expect(IDENTITY.open(PLAIN, RECORD)).toEqual(PLAIN);
  expect(() => IDENTITY.open(Buffer.concat([sealedPrefix('aescbc', 'key1'), PLAIN]), RECORD)).toThrow(
    'it is encrypted',
  );
});
