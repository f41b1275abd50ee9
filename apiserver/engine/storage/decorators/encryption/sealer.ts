/** One way to store a value: a key, or a service that has one. Results may be promises, so that what needs no service need not wait. */
export interface Sealer {
  /** What its values begin with; empty: it stores values as they are. */
  readonly prefix: Buffer;
  /** `key` is that of the record, which may be part of what is checked. */
  readonly seal: (plain: Buffer, key: string) => Buffer | Promise<Buffer>;
  /** `sealed` comes without the prefix. Throws where it was not made by `seal` for this key, StorageError `unavailable` where a service does not answer. */
  readonly open: (sealed: Buffer, key: string) => Buffer | Promise<Buffer>;
  /** Ends its connections. */
  readonly close?: () => void;
}

/** What every encrypted value begins with, in both dialects: the form is that of Kubernetes, and so are the names in it. */
const ENCRYPTED = Buffer.from('k8s:enc:');

/** The prefix of values of this kind: `k8s:enc:aescbc:v1:key1:`. */
export function sealedPrefix(kind: string, name: string): Buffer {
  return Buffer.concat([ENCRYPTED, Buffer.from(`${kind}:v1:${name}:`)]);
}

/** Values as they are. What others encrypted is none of them. */
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
