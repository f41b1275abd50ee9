import type { Rate } from '../../../shared/concurrency/token-bucket';
import type { LogFormat } from '../../../shared/log/pino-log';
import type { Dialect } from '../../../shared/names';
import type { PluginChoice, PluginContext } from '../../kubernetes/admission/plugins';
import type { CallLimits } from '../../kubernetes/admission/webhooks/call';
import type { AuditOptions } from '../../engine/audit/audit-options';
import type { TokenAlgorithm } from '../../../shared/tokens/token-key';
import type { IdTokenRules } from '../../engine/authn/oidc/id-tokens';
import type { ReviewVersion } from '../../engine/remote/review-call';
import type { RequestHeaderNames } from '../../engine/authn/request-header';
import type { AbacPolicy } from '../../kubernetes/auth/abac/policy-file';
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
import type { SniCertificate } from '../../engine/server/sni-certificates';
import type { ServerFeatureGates } from './own-gates';
import type { FlowOptions } from './flow-options';
import type { SharedAnswerOptions } from './shared-answer-options';
import type { ConnectOptions } from './connect-options';

/** What the command line asks for, checked and complete: every part of the server takes its piece of this and no flags. */
export interface ServerOptions {
  readonly dialect: Dialect;
  /** An IP address other machines can reach; used for certificates, discovery and the server's own Endpoints. */
  readonly advertiseAddress: string;
  /** Empty when none was given. */
  readonly externalHostname: string;
  readonly serving: ServingOptions;
  readonly requests: RequestOptions;
  readonly flow: FlowOptions;
  /** Undefined: replicas tell each other nothing of what webhooks answer. */
  readonly sharedAnswers: SharedAnswerOptions | undefined;
  readonly store: StoreOptions;
  /** Undefined: nothing is encrypted in the store. */
  readonly encryption: EncryptionRules | undefined;
  readonly watchCache: WatchCacheOptions;
  readonly authentication: AuthenticationOptions;
  /** Never empty. */
  readonly authorizationModes: readonly Mode[];
  /** There if the mode ABAC is among them. */
  readonly authorizationPolicies: readonly AbacPolicy[] | undefined;
  /** There if the mode Webhook is among them. */
  readonly authorizationWebhook: AuthorizationWebhookOptions | undefined;
  readonly admission: PluginChoice &
    Pick<PluginContext, 'configurations' | 'tolerationSeconds'> & { readonly webhookCalls: CallLimits };
  /** How requests go on to agents of nodes and to other servers. */
  readonly connect: ConnectOptions;
  readonly logging: LoggingOptions;
  /** Undefined: nothing is audited. */
  readonly audit: AuditOptions | undefined;
  /** Whether administrators may have profiles of the process. */
  readonly profiling: boolean;
  /** Which metrics are shown. */
  readonly metrics: MetricChoice;
  /** How long to go on serving after the signal to stop, with readiness failing. */
  readonly shutdownDelayMs: number;
  readonly livezGraceMs: number;
  /** How replicas say that they are alive. Undefined: they keep no leases. */
  readonly identity: IdentityOptions | undefined;
  /** 0 keeps events for ever. */
  readonly eventTtlSeconds: number;
  /** Which group versions are switched on and off. */
  readonly runtimeConfig: RuntimeConfig;
  readonly featureGates: ServerFeatureGates;
  /** What pods may be. */
  readonly kindSettings: KindSettings;
  /** What Services get their addresses and node ports from. */
  readonly services: {
    readonly addresses: AddressRange;
    readonly secondaryAddresses: AddressRange | undefined;
    readonly nodePorts: ValueRange;
  };
}

export interface ServingOptions {
  readonly bindAddress: string;
  /** 0 takes a free port. */
  readonly port: number;
  readonly certificate:
    | { readonly from: 'files'; readonly certFile: string; readonly keyFile: string }
    /** The server makes its own below `dir`; `hosts` are the names it has to carry. */
    | { readonly from: 'self-signed'; readonly dir: string; readonly hosts: readonly string[] };
  /** Chosen by the name for which a client asks, before `certificate`. */
  readonly sniCertificates: readonly SniCertificate[];
  readonly minTlsVersion: 'TLSv1.2' | 'TLSv1.3';
  /** OpenSSL's list; undefined: that of the runtime. */
  readonly ciphers: string | undefined;
  /** Undefined: HTTP/2 is not offered. */
  readonly http2: Http2Settings | undefined;
  /** What answers tell browsers; undefined: nothing. */
  readonly browsers: BrowserRules | undefined;
  /** For each address. Undefined: any number. */
  readonly handshakes: Rate | undefined;
}

export interface RequestOptions {
  readonly timeoutMs: number;
  /** Watches without a timeout of their own end between this and twice this. */
  readonly minWatchTimeoutSeconds: number;
}

export interface WatchCacheOptions {
  readonly ringBytesMax: number;
  readonly derivedBytesMax: number;
  readonly snapshotBytesMax: number;
  /** 0 is never. */
  readonly checkIntervalMs: number;
}

export interface AuthenticationOptions {
  readonly tokenFile?: string;
  /** Of the authorities whose certificates make clients known. */
  readonly clientCaFile?: string;
  readonly requestHeader?: RequestHeaderOptions;
  readonly bootstrapTokens: boolean;
  readonly oidc?: OidcOptions;
  readonly tokenWebhook?: TokenWebhookOptions;
  readonly accountTokens: AccountTokenOptions;
  readonly anonymous: boolean;
}

/** Proxies that authenticate users themselves. */
export interface RequestHeaderOptions extends RequestHeaderNames {
  readonly caFile: string;
}

/** A remote service that is asked about tokens. */
export interface TokenWebhookOptions {
  readonly configFile: string;
  readonly version: ReviewVersion;
  /** 0 asks each time. */
  readonly ttlMs: number;
}

/** An OpenID Connect issuer. */
export interface OidcOptions extends IdTokenRules {
  /** Undefined: the authorities of this machine. */
  readonly caFile: string | undefined;
  /** Never empty. */
  readonly algorithms: readonly TokenAlgorithm[];
}

/** Tokens of service accounts. */
export interface AccountTokenOptions {
  readonly issuer: string;
  readonly signingKey:
    | { readonly from: 'file'; readonly file: string }
    /** The server makes its own below `dir`. */
    | { readonly from: 'self-made'; readonly dir: string };
  /** Of the keys that tokens of others are verified with. */
  readonly keyFiles: readonly string[];
  /** Takes their place where none are given, if its key is of a kind that signs tokens. */
  readonly servingKeyFile: string | undefined;
  /** Never empty. */
  readonly apiAudiences: readonly string[];
  /** Undefined: as long as the request asks for. */
  readonly maxExpirationSeconds: number | undefined;
  readonly extendsExpiration: boolean;
  /** Where clients find the keys; undefined: on this server. */
  readonly keysUrl: string | undefined;
  /** Whether the Secret of a token that has no end must be there still. */
  readonly lookup: boolean;
}

export interface LoggingOptions {
  readonly format: LogFormat;
  readonly verbosity: number;
}
