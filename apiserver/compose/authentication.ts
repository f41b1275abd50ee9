import type { AccountTokenContext, AccountTokenParts } from './account-tokens';
import { createAccountTokens } from './account-tokens';
import { createAuthenticationStage } from '../engine/authn/authenticate';
import type { Authenticator } from '../engine/authn/authenticator';
import { AuthenticationCounts } from '../engine/authn/authentication-counts';
import { bearerToken } from '../engine/authn/bearer-token';
import { bootstrapTokenLookup, systemSecrets } from '../kubernetes/auth/bootstrap-tokens';
import { createFetchJson } from '../engine/authn/oidc/fetch-json';
import { idTokenLookup } from '../engine/authn/oidc/id-tokens';
import { followIssuerKeys } from '../engine/authn/oidc/issuer-keys';
import { requestHeader } from '../engine/authn/request-header';
import type { TokenAuthenticator } from '../engine/authn/token-authenticator';
import type { TokenCacheCounts } from '../engine/authn/token-cache-counts';
import { firstTokenOf, meantForApi } from '../engine/authn/token-authenticator';
import { staticTokenLookup, tokenFileLookup } from '../engine/authn/token-file';
import { createTokenReviewCall } from '../engine/authn/webhook/token-review-call';
import { webhookTokens } from '../engine/authn/webhook/webhook-tokens';
import { webSocketToken } from '../engine/authn/web-socket-token';
import type { CaBundle } from '../engine/authn/x509/ca-bundle';
import { openCaBundle } from '../engine/authn/x509/ca-bundle';
import { clientCertificate } from '../engine/authn/x509/client-certificate';
import type { AnswersOf } from '../engine/remote/shared-answers';
import type { Stage } from '../engine/request/exchange';
import type { AuthenticationOptions, OidcOptions } from './options/server-options';
import type { ClientAuthorities } from '../engine/server/peer-certificates';

/** The authentication of a server. */
export interface Authentication {
  readonly stage: Stage;
  /** Authenticates every supported kind of bearer token; TokenReviews use it as well. */
  readonly tokens: TokenAuthenticator;
  readonly accountTokens: AccountTokenParts;
  readonly counts: AuthenticationCounts;
  readonly bundles: AuthorityBundles;
}

/** The authorities of client certificates and of front proxies. */
export interface AuthorityBundles {
  readonly clients: CaBundle | undefined;
  readonly proxies: CaBundle | undefined;
}

export interface AuthenticationContext extends AccountTokenContext {
  /** Aborts when the server is stopped. */
  readonly shutdownSignal: AbortSignal;
  /** Absent: webhook responses are not shared with other replicas. */
  readonly answersOf?: AnswersOf | undefined;
  /** The users of the embedding process; absent: there is none. */
  readonly embedded?: EmbeddedUsers | undefined;
}

/** How an embedding process authenticates its own requests. */
export interface EmbeddedUsers {
  /** Comes before all others: requests that did not come through a connection. */
  readonly requests: Authenticator;
  /** Comes before all other kinds of tokens. */
  readonly tokens: TokenAuthenticator;
}

/** Throws an error that names the file if a token, key or authority file is unusable. */
export function createAuthentication(
  options: AuthenticationOptions,
  context: AuthenticationContext,
): Authentication {
  const accountTokens = createAccountTokens(options.accountTokens, context);
  const { apiAudiences } = accountTokens;
  const tokens = firstTokenOf(tokenKinds(options, context, accountTokens));
  const bundles: AuthorityBundles = {
    clients: openBundle(options.clientCaFile, context),
    proxies: openBundle(options.requestHeader?.caFile, context),
  };
  const counts = new AuthenticationCounts();
  // A proxy also has a client certificate. Its request headers take precedence over its own identity.
  const authenticators = [
    ...(context.embedded === undefined ? [] : [context.embedded.requests]),
    ...ofCertificates(options, bundles, { clock: context.clock, counts }),
    bearerToken(tokens, apiAudiences),
    webSocketToken(tokens, apiAudiences),
  ];
  const stage = createAuthenticationStage({ authenticators, anonymous: options.anonymous, counts });
  return { stage, tokens, accountTokens, counts, bundles };
}

/** Returns all authorities of client certificates; undefined if no certificate authenticates. */
export function clientAuthoritiesOf({ clients, proxies }: AuthorityBundles): ClientAuthorities | undefined {
  const bundles = [clients, proxies].filter((bundle) => bundle !== undefined);
  if (bundles.length === 0) return undefined;
  return {
    pem: () => bundles.map((bundle) => bundle.current().pem).join('\n'),
    onChange: (listener) => {
      for (const bundle of bundles) bundle.onChange(listener);
    },
  };
}

function tokenKinds(
  { tokenFile, ownTokens, bootstrapTokens, oidc, tokenWebhook }: AuthenticationOptions,
  context: AuthenticationContext,
  { apiAudiences, authenticators, counts }: AccountTokenParts,
): readonly TokenAuthenticator[] {
  const { plane, clock, log, shutdownSignal, answersOf, embedded } = context;
  const secrets = systemSecrets(plane.store, plane.registry);
  return [
    ...(embedded === undefined ? [] : [embedded.tokens]),
    ...(ownTokens === undefined ? [] : [meantForApi(apiAudiences, staticTokenLookup(ownTokens))]),
    ...(tokenFile === undefined ? [] : [meantForApi(apiAudiences, tokenFileLookup(tokenFile))]),
    ...authenticators,
    ...(bootstrapTokens ? [meantForApi(apiAudiences, bootstrapTokenLookup({ secrets, clock, log }))] : []),
    ...(oidc === undefined ? [] : [meantForApi(apiAudiences, idTokens(oidc, context, counts.cache))]),
    // The webhook comes last, so that it is not called for locally known tokens.
    ...(tokenWebhook === undefined
      ? []
      : [
          webhookTokens({
            ...tokenWebhook,
            ask: createTokenReviewCall({ ...tokenWebhook, requests: plane.requests }),
            apiAudiences,
            counts: counts.cache,
            clock,
            log,
            shutdownSignal,
            answersOf,
          }),
        ]),
  ];
}

function idTokens(
  oidc: OidcOptions,
  context: AuthenticationContext,
  counts: TokenCacheCounts,
): ReturnType<typeof idTokenLookup> {
  const { issuer, algorithms, caFile } = oidc;
  const { clock, log, shutdownSignal } = context;
  const bundle = openBundle(caFile, context);
  const fetchJson = createFetchJson(() => bundle?.current().pem, context.plane.requests.allows);
  const keys = followIssuerKeys({ issuer, algorithms, fetchJson, clock, log, shutdownSignal, counts });
  return idTokenLookup(oidc, { keys, clock });
}

function ofCertificates(
  { requestHeader: names }: AuthenticationOptions,
  { clients, proxies }: AuthorityBundles,
  { clock, counts }: Pick<AuthenticationContext, 'clock'> & Pick<Authentication, 'counts'>,
): readonly Authenticator[] {
  return [
    ...(names === undefined || proxies === undefined
      ? []
      : [requestHeader(names, { bundle: proxies, clock })]),
    ...(clients === undefined
      ? []
      : [clientCertificate({ bundle: clients, clock, life: counts.certificateLife })]),
  ];
}

function openBundle(
  file: string | undefined,
  { log, shutdownSignal }: AuthenticationContext,
): CaBundle | undefined {
  if (file === undefined) return undefined;
  const bundle = openCaBundle(file, { log });
  shutdownSignal.addEventListener('abort', bundle.stop, { once: true });
  return bundle;
}
