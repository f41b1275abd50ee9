import { DEFAULT_PLUGIN_NAMES, configurationProblems } from '../../kubernetes/admission/plugins';
import { DEFAULT_CALL_LIMITS } from '../../kubernetes/admission/webhooks/call';
import { readAdmissionConfiguration } from './admission-configuration';
import type { ServerOptions } from './server-options';

export type CompletedAdmission =
  | { readonly ok: true; readonly options: ServerOptions['admission'] }
  | { readonly ok: false; readonly errors: readonly string[] };

/** Builds the admission options from the flags. Returns all errors at once. */
export function completeAdmission(flags: {
  readonly enableAdmissionPlugins: readonly string[];
  readonly disableAdmissionPlugins: readonly string[];
  readonly admissionControlConfigFile: string;
  readonly defaultNotReadyTolerationSeconds: number;
  readonly defaultUnreachableTolerationSeconds: number;
  readonly admissionWebhookOutageFailures: number;
  readonly admissionWebhookMaxRequestsInflight: number;
}): CompletedAdmission {
  const { enableAdmissionPlugins: enable, disableAdmissionPlugins: disable } = flags;
  const read = readAdmissionConfiguration(flags.admissionControlConfigFile);
  const running = [...DEFAULT_PLUGIN_NAMES.filter((name) => !disable.includes(name)), ...enable];
  const both = enable.filter((name) => disable.includes(name));
  const errors = [
    ...(both.length === 0
      ? []
      : [`--enable-admission-plugins and --disable-admission-plugins both name ${both.join(', ')}`]),
    ...(read.ok ? configurationProblems(running, read.configurations) : [read.problem]),
  ];
  if (errors.length > 0 || !read.ok) return { ok: false, errors };
  const tolerationSeconds = {
    notReady: flags.defaultNotReadyTolerationSeconds,
    unreachable: flags.defaultUnreachableTolerationSeconds,
  };
  const webhookCalls = {
    ...DEFAULT_CALL_LIMITS,
    failuresMax: flags.admissionWebhookOutageFailures,
    callsMax: flags.admissionWebhookMaxRequestsInflight,
  };
  const { configurations } = read;
  return { ok: true, options: { enable, disable, tolerationSeconds, configurations, webhookCalls } };
}
