import { parseFeatureGates } from '../../../shared/flags/feature-gates';
import { metricChoice, metricProblems } from '../../../shared/metrics/metric-choice';
import type { FlagValues } from '../../../shared/flags/flag-row';
import { parseRuntimeConfig } from '../../engine/registry/runtime-config';
import { warningsOfPlugins } from '../../kubernetes/admission/plugins';
import { FIELD_GATES, SERVER_GATES } from '../../kubernetes/kinds/field-gates';
import { parseAddressRanges, parsePortRange } from '../../kubernetes/kinds/service-allocation/value-range';
import { storeOptions, storeProblems, storeWarnings } from '../../engine/storage/open';
import { accountTokenErrors } from './account-token-options';
import { auditErrors, auditOptions, auditWarnings } from './audit-options';
import { completeAdmission } from './admission-options';
import {
  authenticationErrors,
  authenticationOptions,
  authenticationWarnings,
} from './authentication-options';
import { readAuthorizationPolicies } from './authorization-policy-options';
import { authorizationWebhookErrors, authorizationWebhookOptions } from './authorization-webhook-options';
import { flowErrors, flowOptions } from './flow-options';
import { sharedAnswerErrors, sharedAnswerOptions } from './shared-answer-options';
import { connectErrors, connectOptions } from './connect-options';
import type { FLAG_ROWS } from './flag-rows';
import { OWN_GATES } from './own-gates';
import type { ServerOptions, WatchCacheOptions } from './server-options';
import { advertiseAddressOf, completeServing } from './serving-options';
import type { IdentityOptions } from '../../kubernetes/bootstrap/identity-lease';
import { readEncryptionConfiguration } from './encryption-options';

export type ServerFlags = FlagValues<typeof FLAG_ROWS>;

/** `warnings` are sentences to log at startup. */
export type CompletedOptions =
  | { readonly ok: true; readonly options: ServerOptions; readonly warnings: readonly string[] }
  | { readonly ok: false; readonly errors: readonly string[] };

const MB = 1_048_576;
const SECOND_MS = 1_000;

/** Validates the flags together and fills in derived values. Returns all errors at once. */
export function completeOptions(flags: ServerFlags): CompletedOptions {
  const runtimeConfig = parseRuntimeConfig(flags.runtimeConfig);
  const featureGates = parseFeatureGates(flags.featureGates, OWN_GATES);
  const serving = completeServing(flags);
  const admission = completeAdmission(flags);
  const encryption = readEncryptionConfiguration(encryptionFile(flags));
  const policies = readAuthorizationPolicies(flags);
  const addresses = parseAddressRanges(flags.serviceClusterIpRange);
  const nodePorts = parsePortRange(flags.serviceNodePortRange);
  const errors = [
    ...(addresses.ok ? [] : addresses.problems.map((problem) => `--service-cluster-ip-range: ${problem}`)),
    ...familyErrors(addresses, featureGates),
    ...(nodePorts === undefined
      ? [`--service-node-port-range must be like 30000-32767, not "${flags.serviceNodePortRange}"`]
      : []),
    ...(runtimeConfig.ok ? [] : runtimeConfig.errors),
    ...(featureGates.ok ? [] : featureGates.errors),
    ...(serving.ok ? [] : serving.errors),
    ...storeProblems(flags),
    ...(encryption.ok ? [] : encryption.errors),
    ...requestErrors(flags),
    ...flowErrors(flags),
    ...sharedAnswerErrors(flags),
    ...auditErrors(flags),
    ...metricProblems(flags),
    ...(admission.ok ? [] : admission.errors),
    ...accountTokenErrors(flags),
    ...authenticationErrors(flags),
    ...connectErrors(flags),
    ...(policies.ok ? [] : policies.errors),
  ];
  if (
    errors.length > 0 ||
    !runtimeConfig.ok ||
    !featureGates.ok ||
    !serving.ok ||
    !addresses.ok ||
    !admission.ok ||
    !encryption.ok ||
    !policies.ok ||
    nodePorts === undefined
  ) {
    return { ok: false, errors };
  }

  const options = optionsOf(flags, {
    serving: serving.options,
    encryption: encryption.rules,
    authorizationPolicies: policies.policies,
    admission: admission.options,
    runtimeConfig: runtimeConfig.config,
    featureGates: featureGates.gates,
    services: { addresses: addresses.addresses, secondaryAddresses: addresses.secondaryAddresses, nodePorts },
  });
  return {
    ok: true,
    options,
    warnings: [
      ...warningsOf(flags),
      ...runtimeConfig.warnings,
      ...featureGates.warnings,
      ...policies.warnings,
      ...warningsOfPlugins(flags.enableAdmissionPlugins),
    ],
  };
}

/** The results of parsing flags with structured values. */
type ParsedOptions = Pick<
  ServerOptions,
  | 'serving'
  | 'encryption'
  | 'authorizationPolicies'
  | 'admission'
  | 'runtimeConfig'
  | 'featureGates'
  | 'services'
>;

function optionsOf(flags: ServerFlags, parsed: ParsedOptions): ServerOptions {
  return {
    dialect: flags.dialect,
    apiLevel: flags.apiLevel,
    advertiseAddress: advertiseAddressOf(flags),
    externalHostname: flags.externalHostname,
    serving: parsed.serving,
    requests: { timeoutMs: flags.requestTimeoutMs, minWatchTimeoutSeconds: flags.minRequestTimeoutSeconds },
    flow: flowOptions(flags, parsed.featureGates),
    sharedAnswers: sharedAnswerOptions(flags),
    store: storeOptions(flags),
    encryption: parsed.encryption,
    watchCache: watchCacheOptions(flags),
    authentication: authenticationOptions(flags),
    authorizationModes: flags.authorizationMode,
    authorizationPolicies: parsed.authorizationPolicies,
    authorizationWebhook: authorizationWebhookOptions(flags),
    admission: parsed.admission,
    connect: connectOptions(flags, parsed.featureGates),
    logging: { format: flags.loggingFormat, verbosity: flags.v },
    audit: auditOptions(flags),
    profiling: flags.profiling,
    objectImport: flags.enableObjectImport,
    metrics: metricChoice(flags),
    shutdownDelayMs: flags.shutdownDelayDurationMs,
    livezGraceMs: flags.livezGracePeriodMs,
    identity: parsed.featureGates.APIServerIdentity ? identityOptions(flags) : undefined,
    eventTtlSeconds: Math.ceil(flags.eventTtlMs / SECOND_MS),
    runtimeConfig: parsed.runtimeConfig,
    featureGates: parsed.featureGates,
    kindSettings: {
      allowPrivileged: flags.allowPrivileged,
      ephemeralContainers: parsed.featureGates.EphemeralContainers,
      gates: new Set([...FIELD_GATES, ...SERVER_GATES].filter((gate) => parsed.featureGates[gate])),
    },
    services: parsed.services,
  };
}

function identityOptions(flags: ServerFlags): IdentityOptions {
  return {
    durationSeconds: flags.identityLeaseDurationSeconds,
    renewMs: flags.identityLeaseRenewIntervalSeconds * SECOND_MS,
  };
}

/** Empty without encryption. */
function encryptionFile(flags: ServerFlags): string {
  return flags.encryptionProviderConfig || flags.experimentalEncryptionProviderConfig;
}

function watchCacheOptions(flags: ServerFlags): WatchCacheOptions {
  return {
    ringBytesMax: flags.watchCacheRingBudgetMb * MB,
    derivedBytesMax: flags.watchCacheDerivedBudgetMb * MB,
    snapshotBytesMax: flags.watchCacheSnapshotBudgetMb * MB,
    checkIntervalMs: flags.cacheCheckIntervalMs,
  };
}

function familyErrors(
  addresses: ReturnType<typeof parseAddressRanges>,
  gates: ReturnType<typeof parseFeatureGates<(typeof OWN_GATES)[number]>>,
): string[] {
  const hasTwo = addresses.ok && addresses.secondaryAddresses !== undefined;
  return hasTwo && gates.ok && !gates.gates.IPv6DualStack
    ? ['--service-cluster-ip-range: a second range needs the feature gate IPv6DualStack']
    : [];
}

function requestErrors(flags: ServerFlags): string[] {
  const errors: string[] = [];
  if (flags.requestTimeoutMs < SECOND_MS) errors.push('--request-timeout must be at least 1s');
  if (flags.authorizationMode.length === 0) errors.push('--authorization-mode needs at least one mode');
  if (new Set(flags.authorizationMode).size < flags.authorizationMode.length) {
    errors.push(`--authorization-mode names a mode twice: ${flags.authorizationMode.join(',')}`);
  }
  return [...errors, ...authorizationWebhookErrors(flags)];
}

function warningsOf(flags: ServerFlags): string[] {
  const warnings: string[] = [];
  if (flags.authorizationMode.includes('AlwaysAllow')) {
    warnings.push(
      'the authorization mode AlwaysAllow is enabled: every authenticated user may do everything; restrict access to this server',
    );
  }
  warnings.push(...authenticationWarnings(flags));
  if (flags.authorizationMode.includes('AlwaysDeny')) {
    warnings.push(
      'the authorization mode AlwaysDeny is enabled: it allows nothing; only the superuser group and the other modes grant access',
    );
  }
  warnings.push(...storeWarnings(flags), ...auditWarnings(flags));
  return warnings;
}
