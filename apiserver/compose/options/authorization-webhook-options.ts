import type { RemoteReviewOptions } from '../../engine/remote/review-call';
import type { ServerFlags } from './complete-options';

export interface AuthorizationWebhookOptions extends Pick<RemoteReviewOptions, 'configFile' | 'version'> {
  /** Cache lifetime of a positive decision; 0 disables the cache. */
  readonly authorizedTtlMs: number;
  /** Cache lifetime of any other decision; 0 disables the cache. */
  readonly unauthorizedTtlMs: number;
}

/** Returns the errors of the flags of the mode Webhook. */
export function authorizationWebhookErrors(flags: ServerFlags): readonly string[] {
  const isOn = flags.authorizationMode.includes('Webhook');
  const hasFile = flags.authorizationWebhookConfigFile !== '';
  if (isOn && !hasFile) return ['--authorization-mode=Webhook needs --authorization-webhook-config-file'];
  if (!isOn && hasFile) return ['--authorization-webhook-config-file needs --authorization-mode=Webhook'];
  return [];
}

export function authorizationWebhookOptions(flags: ServerFlags): AuthorizationWebhookOptions | undefined {
  if (!flags.authorizationMode.includes('Webhook')) return undefined;
  return {
    configFile: flags.authorizationWebhookConfigFile,
    version: flags.authorizationWebhookVersion,
    authorizedTtlMs: flags.authorizationWebhookCacheAuthorizedTtlMs,
    unauthorizedTtlMs: flags.authorizationWebhookCacheUnauthorizedTtlMs,
  };
}
