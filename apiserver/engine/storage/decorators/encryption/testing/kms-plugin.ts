import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { sendUnaryData, ServerUnaryCall, status } from '@grpc/grpc-js';
import { Server, ServerCredentials } from '@grpc/grpc-js';
import { decoderOf, encoderOf } from '../kms-service';

export interface KmsPlugin {
  readonly endpoint: string;
  /** How often each method was called. */
  readonly calls: { Version: number; Encrypt: number; Decrypt: number };
  /** While set, every call but that of the version fails with this code. */
  outage: status | undefined;
  stop(): Promise<void>;
}

interface Fields {
  readonly version?: string;
  readonly plain?: Buffer;
  readonly cipher?: Buffer;
}

/** A KMS plugin at a socket of its own, over the wire, whose encryption turns every bit around. */
export async function startKmsPlugin(version = 'v1beta1'): Promise<KmsPlugin> {
  const directory = await mkdtemp(path.join(tmpdir(), 'kms-'));
  const endpoint = `unix://${path.join(directory, 'socket')}`;
  const server = new Server();
  const plugin: KmsPlugin = {
    endpoint,
    calls: { Version: 0, Encrypt: 0, Decrypt: 0 },
    outage: undefined,
    stop: async () => {
      server.forceShutdown();
      await rm(directory, { recursive: true, force: true });
    },
  };
  const answers = {
    Version: () => ({ version, runtimeName: 'test', runtimeVersion: '1.0.0' }),
    Encrypt: ({ plain }: Fields) => ({ cipher: turned(plain) }),
    Decrypt: ({ cipher }: Fields) => ({ plain: turned(cipher) }),
  };
  const methods = (['Version', 'Encrypt', 'Decrypt'] as const).map((name) => {
    const answer = answers[name] as (request: Fields) => object;
    const handle = (call: ServerUnaryCall<Fields, object>, reply: sendUnaryData<object>): void => {
      plugin.calls[name] += 1;
      if (plugin.outage !== undefined && name !== 'Version') {
        reply({ code: plugin.outage, details: 'the key is out of reach' });
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
        requestSerialize: encoderOf(`${name}Request`),
        requestDeserialize: decoderOf(`${name}Request`),
        responseSerialize: encoderOf(`${name}Response`),
        responseDeserialize: decoderOf(`${name}Response`),
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

function turned(bytes: Buffer | undefined): Buffer {
  return Buffer.from(bytes ?? []).map((byte) => byte ^ 0xff) as Buffer;
}
