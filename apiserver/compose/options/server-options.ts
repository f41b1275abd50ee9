import type { Rate } from '../../../shared/concurrency/token-bucket';
import type { LogFormat } from '../../../shared/log/pino-log';
import type { Dialect } from '../../../shared/names';
import type { PluginChoice, PluginContext } from '../../kubernetes/admission/plugins';
import type { CallLimits } from '../../kubernetes/admission/webhooks/call';
import type { AuditOptions } from '../../engine/audit/audit-options';
import type { SigningKey, TokenAlgorithm } from '../../../shared/tokens/token-key';
import type { IdTokenRules } from '../../engine/authn/oidc/id-tokens';
import type { ReviewVersion } from '../../engine/remote/review-call';
import type { RequestHeaderNames } from '../../engine/authn/request-header';
import type { AbacPolicy } from '../../kubernetes/auth/abac/policy-file';
import type { StaticToken } from '../../engine/authn/token-file';
import type { Mode } from '../authorization-modes';
import type { RuntimeConfig } from '../../engine/registry/runtime-config';
import type { AddressRange, ValueRange } from '../../kubernetes/kinds/service-allocation/value-range';
import type { KindSettings } from '../../engine/registry/strategy';
import type { EncryptionRules } from '../../engine/storage/decorators/encryption/encryption-rules';
import type { MetricChoice } from '../../../shared/metrics/metric-choice';
import type { StoreOptions } from '../../engine/storage/open';
import type { AuthorizationWebhookOptions } from './authorization-webhook-options';
import type { IdentityOptions } from '../../kubernetes/bootstrap/identity-lease';
import type { Http2Settings } from '../../engine/server/http2-sessions';
import type { BrowserRules } from '../../engine/server/browser-rules';
import type { LoadedCertificate } from '../../engine/server/certificate-files';
import type { SniCertificate } from '../../engine/server/sni-certificates';
import type { ServerFeatureGates } from './own-gates';
import type { FlowOptions } from './flow-options';
import type { SharedAnswerOptions } from './shared-answer-options';
import type { ConnectOptions } from './connect-options';

/** The validated and complete options of the command line: every part of the server takes its section of this and no flags. */
export interface ServerOptions {
  readonly dialect: Dialect;
  /** The Kubernetes release whose API is served, as `1.36`. */
  readonly apiLevel: string;
  /** An IP address that other machines can reach; used for certificates, discovery and the server's own Endpoints. */
  readonly advertiseAddress: string;
  /** Empty if not given. */
  readonly externalHostname: string;
  readonly serving: ServingOptions;
  readonly requests: RequestOptions;
  readonly flow: FlowOptions;
  /** Undefined: webhook responses are not shared. */
  readonly sharedAnswers: SharedAnswerOptions | undefined;
  readonly store: StoreOptions;
  /** Undefined: nothing is encrypted in the store. */
  readonly encryption: EncryptionRules | undefined;
  readonly watchCache: WatchCacheOptions;
  readonly authentication: AuthenticationOptions;
  /** Never empty. */
  readonly authorizationModes: readonly Mode[];
  /** Defined if the mode ABAC is enabled. */
  readonly authorizationPolicies: readonly AbacPolicy[] | undefined;
  /** Defined if the mode Webhook is enabled. */
  readonly authorizationWebhook: AuthorizationWebhookOptions | undefined;
  readonly admission: PluginChoice &
    Pick<PluginContext, 'configurations' | 'tolerationSeconds'> & { readonly webhookCalls: CallLimits };
  /** Options of proxied connections to kubelets and other servers. */
  readonly connect: ConnectOptions;
  readonly logging: LoggingOptions;
  /** Undefined: nothing is audited. */
  readonly audit: AuditOptions | undefined;
  /** Whether profiling endpoints are enabled. */
  readonly profiling: boolean;
  /** Whether members of the superuser group may store objects without admission and validation. */
  readonly objectImport: boolean;
  /** Selects the metrics to report. */
  readonly metrics: MetricChoice;
  /** Time in ms for which the server continues to serve after the shutdown signal, while readiness fails. */
  readonly shutdownDelayMs: number;
  readonly livezGraceMs: number;
  /** Options of the identity leases. Undefined: replicas have no leases. */
  readonly identity: IdentityOptions | undefined;
  /** 0 means that events never expire. */
  readonly eventTtlSeconds: number;
  /** Enables and disables group versions. */
  readonly runtimeConfig: RuntimeConfig;
  readonly featureGates: ServerFeatureGates;
  /** Settings of the built-in kinds, such as whether pods may be privileged. */
  readonly kindSettings: KindSettings;
  /** The address and node port ranges of Services. */
  readonly services: {
    readonly addresses: AddressRange;
    readonly secondaryAddresses: AddressRange | undefined;
    readonly nodePorts: ValueRange;
  };
}

export interface ServingOptions {
  readonly bindAddress: string;
  /** 0 selects a free port. */
  readonly port: number;
  readonly certificate:
    | { readonly from: 'files'; readonly certFile: string; readonly keyFile: string }
    /** The server generates a certificate below `dir`; `hosts` are its subject alternative names. */
    | { readonly from: 'self-signed'; readonly dir: string; readonly hosts: readonly string[] }
    | { readonly from: 'memory'; readonly loaded: LoadedCertificate };
  /** Selected by SNI, in preference to `certificate`. */
  readonly sniCertificates: readonly SniCertificate[];
  readonly minTlsVersion: 'TLSv1.2' | 'TLSv1.3';
  /** OpenSSL's list; undefined means the runtime's default. */
  readonly ciphers: string | undefined;
  /** Undefined: HTTP/2 is disabled. */
  readonly http2: Http2Settings | undefined;
  /** Browser headers of responses; undefined: none. */
  readonly browsers: BrowserRules | undefined;
  /** Rate per address. Undefined: unlimited. */
  readonly handshakes: Rate | undefined;
  /** Networks of load balancers that send PROXY headers. */
  readonly proxyProtocolNetworks: readonly string[];
}

export interface RequestOptions {
  readonly timeoutMs: number;
  /** Watches without a timeout of their own end between this value and twice this value. */
  readonly minWatchTimeoutSeconds: number;
}

export interface WatchCacheOptions {
  readonly ringBytesMax: number;
  readonly derivedBytesMax: number;
  readonly snapshotBytesMax: number;
  /** 0 means never. */
  readonly checkIntervalMs: number;
}

export interface AuthenticationOptions {
  readonly tokenFile?: string;
  /** Tokens of clients in the process of this server, such as controllers that run beside it. */
  readonly ownTokens?: readonly StaticToken[];
  /** The file of the client certificate authorities. */
  readonly clientCaFile?: string;
  readonly requestHeader?: RequestHeaderOptions;
  readonly bootstrapTokens: boolean;
  readonly oidc?: OidcOptions;
  readonly tokenWebhook?: TokenWebhookOptions;
  readonly accountTokens: AccountTokenOptions;
  readonly anonymous: boolean;
}

/** Front proxies that authenticate users themselves. */
export interface RequestHeaderOptions extends RequestHeaderNames {
  readonly caFile: string;
}

/** A remote service that authenticates tokens. */
export interface TokenWebhookOptions {
  readonly configFile: string;
  readonly version: ReviewVersion;
  /** 0 disables the cache. */
  readonly ttlMs: number;
}

/** An OpenID Connect issuer. */
export interface OidcOptions extends IdTokenRules {
  /** Undefined: the system's certificate authorities. */
  readonly caFile: string | undefined;
  /** Never empty. */
  readonly algorithms: readonly TokenAlgorithm[];
}

/** Tokens of service accounts. */
export interface AccountTokenOptions {
  readonly issuer: string;
  readonly signingKey:
    | { readonly from: 'file'; readonly file: string }
    /** The server generates a key below `dir`. */
    | { readonly from: 'self-made'; readonly dir: string }
    | { readonly from: 'memory'; readonly key: SigningKey };
  /** Files of the keys that verify other tokens. */
  readonly keyFiles: readonly string[];
  /** Used if no key files are given and its key type can sign tokens. */
  readonly servingKeyFile: string | undefined;
  /** Never empty. */
  readonly apiAudiences: readonly string[];
  /** Undefined: the requested duration is not limited. */
  readonly maxExpirationSeconds: number | undefined;
  readonly extendsExpiration: boolean;
  /** The URL of the keys; undefined: on this server. */
  readonly keysUrl: string | undefined;
  /** Whether the Secret of a token without expiration must still exist. */
  readonly lookup: boolean;
}

export interface LoggingOptions {
  readonly format: LogFormat;
  readonly verbosity: number;
}
