import { Client, credentials, Metadata, status } from '@grpc/grpc-js';
import type { ServiceError } from '@grpc/grpc-js';
import { Field, Type } from 'protobufjs';
import { StorageError } from '../../backend';

/** A service that encrypts and decrypts small secrets with a key that nobody else knows. */
export interface KmsService {
  /** Both throw StorageError: `unavailable` when a later try may succeed, `corrupt` for what the service did not make. */
  encrypt(plain: Buffer): Promise<Buffer>;
  decrypt(cipher: Buffer): Promise<Buffer>;
  close(): void;
}

export interface KmsServiceOptions {
  /** What it is called in errors. */
  readonly name: string;
  /** `unix:///run/kms.sock`. */
  readonly endpoint: string;
  readonly timeoutMs: number;
}

/** The only version of the protocol that v1.21 speaks. */
const VERSION = 'v1beta1';
const SERVICE = '/v1beta1.KeyManagementService';
/** The library would come to wait two minutes for a plugin that is there again. */
const RECONNECT_MS_MAX = 2_000;
const RECONNECT_MS_MIN = 100;

/** A KMS plugin (v1) at a socket of this machine. Connects when it is first needed, and again whenever it must. */
export function createKmsService({ name, endpoint, timeoutMs }: KmsServiceOptions): KmsService {
  const client = new Client(endpoint, credentials.createInsecure(), {
    'grpc.initial_reconnect_backoff_ms': RECONNECT_MS_MIN,
    'grpc.max_reconnect_backoff_ms': RECONNECT_MS_MAX,
  });
  let isVersionKnown = false;
  let isClosed = false;
  const call = async (method: string, request: Fields): Promise<Fields> =>
    new Promise((resolve, reject) => {
      if (isClosed) throw new StorageError('closed', 'the store is closed');
      client.makeUnaryRequest<Fields, Fields>(
        `${SERVICE}/${method}`,
        encoderOf(`${method}Request`),
        decoderOf(`${method}Response`),
        request,
        new Metadata({ waitForReady: true }),
        { deadline: Date.now() + timeoutMs },
        (error, answer) => {
          if (error !== null) reject(errorOf(name, method, error));
          else resolve(answer ?? {});
        },
      );
    });
  const checkVersion = async (): Promise<void> => {
    if (isVersionKnown) return;
    const { version } = await call('Version', { version: VERSION });
    if (version !== VERSION) {
      const spoken = `the KMS provider ${name} speaks version ${String(version)} of the protocol`;
      throw new StorageError('unavailable', `${spoken}, only ${VERSION} is supported`);
    }
    isVersionKnown = true;
  };
  return {
    encrypt: async (plain) => {
      await checkVersion();
      return bytesOf((await call('Encrypt', { version: VERSION, plain })).cipher);
    },
    decrypt: async (cipher) => {
      await checkVersion();
      return bytesOf((await call('Decrypt', { version: VERSION, cipher })).plain);
    },
    close: () => {
      isClosed = true;
      client.close();
    },
  };
}

interface Fields {
  readonly version?: string;
  readonly plain?: Buffer;
  readonly cipher?: Buffer;
}

/** The protocol: the fields that are read or written of each message, with their numbers. */
export const KMS_MESSAGES = {
  VersionRequest: { version: 'string 1' },
  VersionResponse: { version: 'string 1', runtimeName: 'string 2', runtimeVersion: 'string 3' },
  EncryptRequest: { version: 'string 1', plain: 'bytes 2' },
  EncryptResponse: { cipher: 'bytes 1' },
  DecryptRequest: { version: 'string 1', cipher: 'bytes 2' },
  DecryptResponse: { plain: 'bytes 1' },
} as const satisfies Readonly<Record<string, Readonly<Record<string, string>>>>;

const TYPES: ReadonlyMap<string, Type> = new Map(
  Object.entries(KMS_MESSAGES).map(([name, fields]) => [name, typeOf(name, fields)]),
);

/** Bytes of a message, by its name in {@link KMS_MESSAGES}. */
export function encoderOf(message: string): (fields: object) => Buffer {
  return (fields) => Buffer.from(knownType(message).encode(fields).finish());
}

/** A message of its bytes, by its name in {@link KMS_MESSAGES}. */
export function decoderOf(message: string): (bytes: Buffer) => Fields {
  return (bytes) => knownType(message).decode(bytes) as Fields;
}

function typeOf(name: string, fields: Readonly<Record<string, string>>): Type {
  const type = new Type(name);
  for (const [field, text] of Object.entries(fields)) {
    const [kind = '', number = ''] = text.split(' ');
    type.add(new Field(field, Number(number), kind));
  }
  return type;
}

function knownType(message: string): Type {
  const type = TYPES.get(message);
  if (type === undefined) throw new Error(`the protocol has no message ${message}`);
  return type;
}

function bytesOf(value: Buffer | undefined): Buffer {
  return Buffer.from(value ?? []);
}

/** Plugins tell an outage of what is behind them by any code, so that only these say that another try is in vain. */
const IN_VAIN: ReadonlySet<number> = new Set([status.INVALID_ARGUMENT, status.DATA_LOSS]);

function errorOf(name: string, method: string, error: ServiceError): StorageError {
  const code = IN_VAIN.has(error.code) ? 'corrupt' : 'unavailable';
  return new StorageError(code, `${method} of the KMS provider ${name} failed: ${error.message}`, {
    cause: error,
  });
}
