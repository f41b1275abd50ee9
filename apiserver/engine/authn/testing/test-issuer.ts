import { constants, generateKeyPairSync, sign } from 'node:crypto';
import type { JsonWebKey, KeyObject } from 'node:crypto';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:https';
import { issueCertificate, makeCa } from '../../../../shared/certs/certificate';

export interface TestKey {
  readonly keyId: string;
  readonly privateKey: KeyObject;
  readonly jwk: Readonly<Record<string, unknown>>;
}

const KEYS_TYPE = 'application/jwk-set+json';

/** A real OpenID Connect issuer on the loopback. */
export interface TestIssuer {
  readonly url: string;
  readonly caPem: string;
  /** What it publishes; a test may change it. */
  keys: readonly Readonly<Record<string, unknown>>[];
  /** What the discovery document says of the issuer, if not the truth. */
  claimedIssuer: string | undefined;
  /** Answers 500 to everything. */
  isBroken: boolean;
  /** How often the keys were asked for. */
  readonly asked: () => number;
  readonly stop: () => Promise<void>;
}

export function newRsaKey(keyId: string): TestKey {
  return testKey(keyId, generateKeyPairSync('rsa', { modulusLength: 2048 }));
}

export function newEcKey(keyId: string, namedCurve: string): TestKey {
  return testKey(keyId, generateKeyPairSync('ec', { namedCurve }));
}

function testKey(
  keyId: string,
  { publicKey, privateKey }: { readonly publicKey: KeyObject; readonly privateKey: KeyObject },
): TestKey {
  const jwk: JsonWebKey = publicKey.export({ format: 'jwk' });
  return { keyId, privateKey, jwk: { ...jwk, kid: keyId, use: 'sig' } };
}

/** A token with any header, signed as it says. */
export function idToken({ keyId, privateKey }: TestKey, algorithm: string, claims: object): string {
  const head = encode({ alg: algorithm, kid: keyId });
  const signed = `${head}.${encode(claims)}`;
  const isPss = algorithm.startsWith('PS');
  const signature = sign(`sha${algorithm.slice(2)}`, Buffer.from(signed), {
    key: privateKey,
    dsaEncoding: 'ieee-p1363',
    ...(isPss
      ? { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST }
      : {}),
  });
  return `${signed}.${signature.toString('base64url')}`;
}

export function encode(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

export async function startIssuer(keys: readonly TestKey[]): Promise<TestIssuer> {
  const ca = makeCa({ commonName: 'issuer ca', validDays: 1 });
  const own = issueCertificate(ca, {
    commonName: 'issuer',
    hosts: ['127.0.0.1'],
    usages: ['server'],
    validDays: 1,
  });
  let asked = 0;
  const server = createServer({ cert: own.certificatePem, key: own.privateKeyPem }, (request, response) => {
    if (issuer.isBroken) {
      response.writeHead(500).end('{}');
      return;
    }
    if (request.url === '/tenant/.well-known/openid-configuration') {
      const claimed = issuer.claimedIssuer ?? issuer.url;
      response.end(JSON.stringify({ issuer: claimed, jwks_uri: `${issuer.url}/keys?v=1` }));
      return;
    }
    asked += 1;
    // API servers that publish their keys write no other type.
    const isAccepted = (request.headers.accept ?? KEYS_TYPE).includes(KEYS_TYPE);
    const isFound = request.url === '/tenant/keys?v=1';
    response.writeHead(!isAccepted ? 406 : isFound ? 200 : 404).end(JSON.stringify({ keys: issuer.keys }));
  });
  server.listen({ host: '127.0.0.1', port: 0 });
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const issuer: TestIssuer = {
    url: `https://127.0.0.1:${String(port)}/tenant`,
    caPem: ca.certificatePem,
    keys: keys.map(({ jwk }) => jwk),
    claimedIssuer: undefined,
    isBroken: false,
    asked: () => asked,
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return issuer;
}
