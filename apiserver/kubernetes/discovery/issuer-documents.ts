import type { TokenKey } from '../../../shared/tokens/token-key';
import type { Answer, Exchange } from '../../engine/request/exchange';
import { refuseUnrouted } from '../../engine/encoding/routing';
import { methodNotAllowed } from '../../engine/handlers/target';

const CONFIGURATION_PATH = '/.well-known/openid-configuration';
const KEYS_PATH = '/openid/v1/jwks';
/** Keys change with a restart only, so that others may remember them for an hour. */
const CACHE_CONTROL = 'public, max-age=3600';

/** The documents by which others verify tokens of service accounts: OpenID Connect discovery, as far as it is about tokens. */
export interface IssuerDocuments {
  readonly paths: readonly string[];
  /** Undefined for any other path. */
  readonly answer: (exchange: Exchange) => Answer | undefined;
}

export interface IssuerDocumentsOptions {
  readonly issuer: string;
  /** Where clients find the keys; undefined: on this server, at the address it is reached at. */
  readonly keysUrl: string | undefined;
  readonly keys: readonly TokenKey[];
  /** `host:port` at which clients reach this server. */
  readonly serverAddress: () => string;
}

/** Why an issuer has no documents, in a few words; undefined when it has. */
export function issuerProblem(issuer: string): string | undefined {
  const url = URL.canParse(issuer) ? new URL(issuer) : undefined;
  if (url?.protocol !== 'https:') return 'the issuer is no https URL';
  return issuer.includes('?') || issuer.includes('#') ? 'the issuer has a query or a fragment' : undefined;
}

export function issuerDocuments({
  issuer,
  keysUrl,
  keys,
  serverAddress,
}: IssuerDocumentsOptions): IssuerDocuments {
  const keySet = JSON.stringify({ keys: keys.map(keyDocument) });
  const algorithms = [...new Set(keys.map(({ algorithm }) => algorithm))].toSorted();
  const configuration = (): string =>
    JSON.stringify({
      issuer,
      jwks_uri: keysUrl ?? `https://${serverAddress()}${KEYS_PATH}`,
      response_types_supported: ['id_token'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: algorithms,
    });
  return {
    paths: [CONFIGURATION_PATH, KEYS_PATH],
    answer: (exchange) => {
      const { method } = exchange;
      const path = exchange.path.replace(/\/$/, '');
      const document =
        path === CONFIGURATION_PATH
          ? { text: configuration(), type: 'application/json' }
          : path === KEYS_PATH
            ? { text: keySet, type: 'application/jwk-set+json' }
            : undefined;
      if (document === undefined) return undefined;
      if (method !== 'GET') throw methodNotAllowed();
      refuseUnrouted(exchange, { produces: ['*/*', document.type] });
      return {
        code: 200,
        headers: { 'Content-Type': document.type, 'Cache-Control': CACHE_CONTROL },
        body: Buffer.from(document.text),
      };
    },
  };
}

function keyDocument({ keyId, algorithm, publicKey }: TokenKey): object {
  return { use: 'sig', kid: keyId, alg: algorithm, ...publicKey.export({ format: 'jwk' }) };
}
