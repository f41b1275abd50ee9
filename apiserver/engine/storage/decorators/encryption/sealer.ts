/** Encrypts and decrypts values with one key, local or of a service. Results are promises only where a service is called. */
export interface Sealer {
  /** The prefix of its stored values; empty: values are stored in plain text. */
  readonly prefix: Buffer;
  /** `key` is the key of the record, which may be authenticated data. */
  readonly seal: (plain: Buffer, key: string) => Buffer | Promise<Buffer>;
  /** `sealed` is without the prefix. Throws if `seal` did not make it for this key; StorageError `unavailable` if a service does not answer. */
  readonly open: (sealed: Buffer, key: string) => Buffer | Promise<Buffer>;
  /** Ends its connections. */
  readonly close?: () => void;
}

/** The prefix of every encrypted value, in both dialects: the format is that of Kubernetes. */
const ENCRYPTED = Buffer.from('k8s:enc:');

/** The prefix of values of this kind: `k8s:enc:aescbc:v1:key1:`. */
export function sealedPrefix(kind: string, name: string): Buffer {
  return Buffer.concat([ENCRYPTED, Buffer.from(`${kind}:v1:${name}:`)]);
}

/** Stores values in plain text. Rejects encrypted values. */
export const IDENTITY: Sealer = {
  prefix: Buffer.alloc(0),
  seal: (plain) => plain,
  open: (stored) => {
    if (isSealed(stored)) throw new Error('it is encrypted');
    return stored;
  },
};

function isSealed(stored: Buffer): boolean {
  return startsWith(stored, ENCRYPTED);
}

/** Whether the bytes begin with these. */
export function startsWith(bytes: Buffer, prefix: Buffer): boolean {
  return bytes.length >= prefix.length && bytes.compare(prefix, 0, prefix.length, 0, prefix.length) === 0;
}
