/**
 * Stands between the codec and the Backend: what is stored is `toStorage(plain)`. Identity today; encryption at rest takes this
 * place later, with the key as its authenticated data.
 */
export interface Transformer {
  /** Throws when the bytes were not written for this key. `stale` asks for a rewrite even when the object is unchanged. */
  fromStorage(key: string, stored: Buffer): { readonly plain: Buffer; readonly stale: boolean };
  toStorage(key: string, plain: Buffer): Buffer;
}

export const identityTransformer: Transformer = {
  fromStorage: (_key, stored) => ({ plain: stored, stale: false }),
  toStorage: (_key, plain) => plain,
};
