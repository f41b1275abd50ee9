import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { sendUnaryData, ServerUnaryCall, status } from '@grpc/grpc-js';
import { Server, ServerCredentials } from '@grpc/grpc-js';
import type { Type } from 'protobufjs';
import { KMS_TYPES } from '../kms-service';

export interface KmsPlugin {
  readonly endpoint: string;
  /** Path of the socket. */
  readonly path: string;
  /** Calls of each method. */
  readonly calls: { Version: number; Encrypt: number; Decrypt: number };
  /** While this is set, every call but Version fails with this code. */
  outage: status | undefined;
  stop(): Promise<void>;
}

interface Fields {
  readonly version?: string;
  readonly plain?: Buffer;
  readonly cipher?: Buffer;
}

/** Starts a KMS plugin on its own socket, over grpc-js as an independent peer. Its encryption inverts every bit. */
export async function startKmsPlugin({ version = 'v1beta1', path = '' } = {}): Promise<KmsPlugin> {
  const socket = path === '' ? join(await mkdtemp(join(tmpdir(), 'kms-')), 'socket') : path;
  await mkdir(dirname(socket), { recursive: true });
  const endpoint = `unix://${socket}`;
  const server = new Server();
  const plugin: KmsPlugin = {
    endpoint,
    path: socket,
    calls: { Version: 0, Encrypt: 0, Decrypt: 0 },
    outage: undefined,
    stop: async () => {
      server.forceShutdown();
      await rm(dirname(socket), { recursive: true, force: true });
    },
  };
  const answers = {
    Version: () => ({ version, runtimeName: 'test', runtimeVersion: '1.0.0' }),
    Encrypt: ({ plain }: Fields) => ({ cipher: invert(plain) }),
    Decrypt: ({ cipher }: Fields) => ({ plain: invert(cipher) }),
  };
  const methods = (['Version', 'Encrypt', 'Decrypt'] as const).map((name) => {
    const answer = answers[name] as (request: Fields) => object;
    const handle = (call: ServerUnaryCall<Fields, object>, reply: sendUnaryData<object>): void => {
      plugin.calls[name] += 1;
      if (plugin.outage !== undefined && name !== 'Version') {
        reply({ code: plugin.outage, details: 'the key is unavailable' });
      } else reply(null, answer(call.request));
    };
    return { name, handle };
  });
  const definition = Object.fromEntries(
    methods.map(({ name }) => [
      name,
      {
        path: `/v1beta1.KeyManagementService/${name}`,
        requestStream: false,
        responseStream: false,
        requestSerialize: serialize(KMS_TYPES[`${name}Request`]),
        requestDeserialize: deserialize(KMS_TYPES[`${name}Request`]),
        responseSerialize: serialize(KMS_TYPES[`${name}Response`]),
        responseDeserialize: deserialize(KMS_TYPES[`${name}Response`]),
      } as const,
    ]),
  );
  server.addService(definition, Object.fromEntries(methods.map(({ name, handle }) => [name, handle])));
  await new Promise<void>((resolve, reject) => {
    server.bindAsync(endpoint, ServerCredentials.createInsecure(), (error) => {
      if (error === null) resolve();
      else reject(error);
    });
  });
  return plugin;
}

function serialize(type: Type): (fields: object) => Buffer {
  return (fields) => Buffer.from(type.encode(fields).finish());
}

function deserialize(type: Type): (bytes: Buffer) => Fields {
  return (bytes) => type.decode(bytes) as Fields;
}

function invert(bytes: Buffer | undefined): Buffer {
  return Buffer.from(bytes ?? []).map((byte) => byte ^ 0xff) as Buffer;
}
