import type { RequestHandler } from 'express';
import type { Log } from '../../../shared/log/log';
import type { TokenKey } from '../../../shared/tokens/token-key';
import type { PageRoutes } from '../../engine/server/page-router';
import { createPageRouter, page } from '../../engine/server/page-router';
import { refuseUnrouted } from '../../engine/encoding/routing';
import { methodNotAllowed } from '../../engine/handlers/target';

const CONFIGURATION_PATH = '/.well-known/openid-configuration';
const KEYS_PATH = '/openid/v1/jwks';
/** Keys change only at a restart, so that clients may cache them for an hour. */
const CACHE_CONTROL = 'public, max-age=3600';

export interface IssuerDocumentsOptions {
  readonly issuer: string;
  /** The URL of the keys; undefined: on this server, at `serverAddress`. */
  readonly keysUrl: string | undefined;
  readonly keys: readonly TokenKey[];
  /** Returns the `host:port` at which clients reach this server. */
  readonly serverAddress: () => string;
}

/** Returns the routes of the issuer's documents; none, with a log line, for an issuer that other programs cannot look up. */
export function issuerPages(
  { issuer, keysUrl }: Pick<IssuerDocumentsOptions, 'issuer' | 'keysUrl'>,
  { log, ...parts }: Pick<IssuerDocumentsOptions, 'keys' | 'serverAddress'> & { readonly log: Log },
): readonly PageRoutes[] {
  const reason = issuerProblem(issuer);
  if (reason === undefined) return [createIssuerRouter({ issuer, keysUrl, ...parts })];
  log.info({ issuer, reason }, 'service account issuer discovery is disabled');
  return [];
}

/** Returns why an issuer can have no documents, in a few words; undefined if it can. */
function issuerProblem(issuer: string): string | undefined {
  const url = URL.canParse(issuer) ? new URL(issuer) : undefined;
  if (url?.protocol !== 'https:') return 'the issuer is no https URL';
  return issuer.includes('?') || issuer.includes('#') ? 'the issuer has a query or a fragment' : undefined;
}

/**
 * Creates the routes of the documents by which other programs verify service account tokens: OpenID Connect discovery, as far as it
 * concerns tokens.
 */
export function createIssuerRouter({
  issuer,
  keysUrl,
  keys,
  serverAddress,
}: IssuerDocumentsOptions): PageRoutes {
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
  const router = createPageRouter('optional');
  router.all(CONFIGURATION_PATH, documentPage('application/json', configuration));
  router.all(
    KEYS_PATH,
    documentPage('application/jwk-set+json', () => keySet),
  );
  return { router, paths: [CONFIGURATION_PATH, KEYS_PATH] };
}

function documentPage(type: string, text: () => string): RequestHandler {
  return page(({ exchange }) => {
    if (exchange.method !== 'GET') throw methodNotAllowed();
    refuseUnrouted(exchange, { produces: ['*/*', type] });
    const headers = { 'Content-Type': type, 'Cache-Control': CACHE_CONTROL };
    return { code: 200, headers, body: Buffer.from(text()) };
  });
}

function keyDocument({ keyId, algorithm, publicKey }: TokenKey): object {
  return { use: 'sig', kid: keyId, alg: algorithm, ...publicKey.export({ format: 'jwk' }) };
}
