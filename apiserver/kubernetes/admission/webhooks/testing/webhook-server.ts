import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { issueCertificate, makeCa } from '../../../../../shared/certs/certificate';
import { GROUP } from '../../../../../shared/names';

// Reviews and answers are looked at field by field.
// eslint-disable-next-line typescript/no-explicit-any
export type Review = any;

/** A received question. */
export interface Asked {
  readonly review: Review;
  readonly text: string;
  readonly url: string;
  readonly host: string;
  /** The client certificate. */
  readonly client: string;
  readonly authorization: string;
}

/** The behaviour of the webhook: returns the `response` without uid, or answers itself. */
export type Behaviour = (
  asked: Asked,
  raw: { readonly request: IncomingMessage; readonly response: ServerResponse },
) => object | undefined | Promise<object | undefined>;

export interface WebhookServer {
  readonly port: number;
  readonly url: string;
  /** For `clientConfig.caBundle`. */
  readonly caBundle: string;
  readonly asked: Asked[];
  behave: Behaviour;
  /** Waits for this number of questions. */
  askedTimes(times: number): Promise<void>;
  close(): Promise<void>;
}

export const authority = makeCa({ commonName: 'webhooks', validDays: 1 });
export const client = issueCertificate(authority, {
  commonName: 'apiserver',
  usages: ['client'],
  validDays: 1,
});

export const allow: Behaviour = () => ({ allowed: true });

/** Allows and patches the object. */
export function patching(...operations: readonly object[]): () => object {
  const patch = Buffer.from(JSON.stringify(operations)).toString('base64');
  return () => ({ allowed: true, patchType: 'JSONPatch', patch });
}

/** Starts a webhook on a local port with a certificate for these names. */
export async function startWebhook(
  behave: Behaviour = allow,
  { hosts = ['127.0.0.1'] }: { readonly hosts?: readonly string[] } = {},
): Promise<WebhookServer> {
  const served = issueCertificate(authority, { commonName: 'w', hosts, usages: ['server'], validDays: 1 });
  const asked: Asked[] = [];
  const waiting = new Set<() => void>();
  const server = createServer(
    {
      cert: served.certificatePem,
      key: served.privateKeyPem,
      ca: authority.certificatePem,
      requestCert: true,
      rejectUnauthorized: false,
    },
    (request, response) => {
      const parts: Buffer[] = [];
      request.on('data', (part: Buffer) => parts.push(part));
      request.on('end', () => {
        const text = Buffer.concat(parts).toString('utf8');
        const one: Asked = {
          review: JSON.parse(text),
          text,
          url: request.url ?? '',
          host: request.headers.host ?? '',
          client: String((request.socket as TLSSocket).getPeerCertificate().subject?.CN ?? ''),
          authorization: request.headers.authorization ?? '',
        };
        asked.push(one);
        for (const look of waiting) look();
        answer(one, { request, response }).catch((error: unknown) => {
          response.writeHead(500).end(String(error));
        });
      });
    },
  );
  const answer = async (
    one: Asked,
    raw: { readonly request: IncomingMessage; readonly response: ServerResponse },
  ): Promise<void> => {
    const given = await webhook.behave(one, raw);
    if (given === undefined) return;
    const { kind, apiVersion, request } = one.review;
    const body = { kind, apiVersion, response: { uid: request.uid, ...given } };
    raw.response.setHeader('content-type', 'application/json').end(JSON.stringify(body));
  };
  // However slow the test is, its connections stay open.
  server.keepAliveTimeout = 0;
  server.listen({ host: '127.0.0.1', port: 0 });
  await once(server, 'listening');
  const bound = (server.address() as AddressInfo).port;
  const webhook: WebhookServer = {
    port: bound,
    url: `https://127.0.0.1:${String(bound)}/review`,
    caBundle: Buffer.from(authority.certificatePem).toString('base64'),
    asked,
    behave,
    askedTimes: async (times) => {
      await new Promise<void>((resolve) => {
        const look = (): void => {
          if (asked.length < times) return;
          waiting.delete(look);
          resolve();
        };
        waiting.add(look);
        look();
      });
    },
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return webhook;
}

const RULE = {
  operations: ['*'],
  apiGroups: ['*'],
  apiVersions: ['*'],
  resources: ['configmaps'],
  scope: '*',
};

/** Returns one webhook of a configuration, by default for ConfigMaps. */
export function hookAt(
  { url, caBundle }: Pick<WebhookServer, 'url' | 'caBundle'>,
  { name = 'a.example.org', rules = [RULE], ...rest }: Readonly<Record<string, unknown>> = {},
): object {
  return {
    name,
    clientConfig: { url, caBundle },
    rules,
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
    ...rest,
  };
}

/** Returns body and path of a configuration. */
export function configurationOf(
  type: 'Mutating' | 'Validating',
  name: string,
  webhooks: readonly object[],
): { readonly path: string; readonly body: object } {
  return {
    path: `/apis/${GROUP.admissionregistration}/v1/${type.toLowerCase()}webhookconfigurations`,
    body: {
      kind: `${type}WebhookConfiguration`,
      apiVersion: `${GROUP.admissionregistration}/v1`,
      metadata: { name },
      webhooks,
    },
  };
}
