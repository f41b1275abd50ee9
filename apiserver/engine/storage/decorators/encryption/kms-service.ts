import { setMaxListeners } from 'node:events';
import { performance } from 'node:perf_hooks';
import { Field, Type, Writer } from 'protobufjs';
import { sleep } from '../../../../../shared/concurrency/abort';
import { StorageError } from '../../backend';
import { http2TransportFactory } from '../../grpc/http2-transport';
import type { Method, Transport } from '../../grpc/transport';
import { STATUS, TransportError } from '../../grpc/transport';

/** A service that encrypts and decrypts small secrets with a key that it does not give out. */
export interface KmsService {
  /** Both throw StorageError: `unavailable` when a retry may succeed, `corrupt` for bytes that the service did not encrypt. */
  encrypt(plain: Buffer): Promise<Buffer>;
  decrypt(cipher: Buffer): Promise<Buffer>;
  close(): void;
}

export interface KmsServiceOptions {
  /** The name of the provider, for errors. */
  readonly name: string;
  /** `unix:///run/kms.sock`. */
  readonly endpoint: string;
  /** Limit of one call, including the wait for a connection. */
  readonly timeoutMs: number;
}

/** v1.21 speaks no other version of the protocol. */
const VERSION = 'v1beta1';
const RECONNECT_MS = 100;
/** Go's gRPC servers close connections whose clients ping more often. */
const KEEP_ALIVE_MS = 5 * 60_000;

/** Returns a client of a KMS plugin (v1) on a Unix socket. It connects on the first call and reconnects when needed. */
export function createKmsService({ name, endpoint, timeoutMs }: KmsServiceOptions): KmsService {
  const transport = http2TransportFactory({
    dialTimeoutMs: timeoutMs,
    tuning: { keepAliveMs: KEEP_ALIVE_MS },
  })(endpoint);
  const closing = new AbortController();
  // Each call in flight listens to it.
  setMaxListeners(0, closing.signal);
  let isVersionKnown = false;
  const call = async (method: KmsMethod, request: Fields): Promise<Fields> => {
    const deadlineMs = performance.now() + timeoutMs;
    try {
      await waitForConnection(transport, deadlineMs, closing.signal);
      const restMs = Math.max(1, deadlineMs - performance.now());
      return await transport.unary(METHODS[method], request, { timeoutMs: restMs, signal: closing.signal });
    } catch (error) {
      if (closing.signal.aborted) throw new StorageError('closed', 'the store is closed', { cause: error });
      throw toKmsError(name, method, error);
    }
  };
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
      return toBuffer((await call('Encrypt', { version: VERSION, plain })).cipher);
    },
    decrypt: async (cipher) => {
      await checkVersion();
      return toBuffer((await call('Decrypt', { version: VERSION, cipher })).plain);
    },
    close: () => {
      closing.abort();
      transport.close();
    },
  };
}

/** Reconnects until the deadline, so that a call waits for a plugin that restarts. Throws the last error of the transport. */
async function waitForConnection(
  transport: Transport,
  deadlineMs: number,
  signal: AbortSignal,
): Promise<void> {
  for (;;) {
    try {
      await transport.ready(deadlineMs - performance.now(), signal);
      return;
    } catch (error) {
      if (signal.aborted || performance.now() + RECONNECT_MS >= deadlineMs) throw error;
      await sleep(RECONNECT_MS, signal);
    }
  }
}

interface Fields {
  readonly version?: string;
  readonly plain?: Buffer;
  readonly cipher?: Buffer;
}

/** The fields of each message that are read or written, with their types and numbers. */
const MESSAGES = {
  VersionRequest: { version: 'string 1' },
  VersionResponse: { version: 'string 1', runtimeName: 'string 2', runtimeVersion: 'string 3' },
  EncryptRequest: { version: 'string 1', plain: 'bytes 2' },
  EncryptResponse: { cipher: 'bytes 1' },
  DecryptRequest: { version: 'string 1', cipher: 'bytes 2' },
  DecryptResponse: { plain: 'bytes 1' },
} as const satisfies Readonly<Record<string, Readonly<Record<string, string>>>>;

/** The Protobuf types of the protocol, by the names of its messages. */
export const KMS_TYPES: Readonly<Record<keyof typeof MESSAGES, Type>> = {
  VersionRequest: makeType('VersionRequest'),
  VersionResponse: makeType('VersionResponse'),
  EncryptRequest: makeType('EncryptRequest'),
  EncryptResponse: makeType('EncryptResponse'),
  DecryptRequest: makeType('DecryptRequest'),
  DecryptResponse: makeType('DecryptResponse'),
};

function makeType(name: keyof typeof MESSAGES): Type {
  const type = new Type(name);
  for (const [field, text] of Object.entries(MESSAGES[name])) {
    const [kind = '', number = ''] = text.split(' ');
    type.add(new Field(field, Number(number), kind));
  }
  return type;
}

type KmsMethod = 'Version' | 'Encrypt' | 'Decrypt';

const METHODS: Readonly<Record<KmsMethod, Method<Fields, Fields>>> = {
  Version: makeMethod('Version'),
  Encrypt: makeMethod('Encrypt'),
  Decrypt: makeMethod('Decrypt'),
};

function makeMethod(name: KmsMethod): Method<Fields, Fields> {
  return {
    path: `/v1beta1.KeyManagementService/${name}`,
    // The writer starts with five free bytes for the frame head.
    encode: (request) =>
      KMS_TYPES[`${name}Request`].encode(request, Writer.create().fixed32(0).bool(false)).finish() as Buffer,
    decode: (bytes) => KMS_TYPES[`${name}Response`].decode(bytes) as Fields,
  };
}

function toBuffer(value: Buffer | undefined): Buffer {
  return Buffer.from(value ?? []);
}

/** Plugins report an outage of their own upstream by any other code, so only these codes make a retry pointless. */
const PERMANENT_CODES: ReadonlySet<number> = new Set([STATUS.invalidArgument, STATUS.dataLoss]);

function toKmsError(name: string, method: string, error: unknown): StorageError {
  const isPermanent = error instanceof TransportError && PERMANENT_CODES.has(error.code);
  const message = error instanceof Error ? error.message : String(error);
  return new StorageError(
    isPermanent ? 'corrupt' : 'unavailable',
    `${method} of the KMS provider ${name} failed: ${message}`,
    { cause: error },
  );
}
