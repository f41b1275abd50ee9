import path from 'node:path';
import type { ClientOptions } from '../../../../shared/client/options';
import { loadCredentials } from '../../../../shared/client/kubeconfig';
import { GROUP } from '../../../../shared/names';
import { fieldsOf, optionalRecord, text } from '../../../../shared/object/accessors';

/** The server's credentials for webhooks: a certificate or a token. */
export type Credentials = Pick<ClientOptions, 'cert' | 'key' | 'token' | 'tokenFile'>;

/** Returns the credentials for a host and port. */
export type CredentialsFor = (host: string, port: number) => Credentials;

const NO_CREDENTIALS: Credentials = {};
const HTTPS_PORT = 443;

const KINDS: readonly (readonly [apiVersion: string, kind: string])[] = [
  [`${GROUP.apiserverConfig}/v1`, 'WebhookAdmissionConfiguration'],
  [`${GROUP.apiserverConfig}/v1alpha1`, 'WebhookAdmission'],
];

interface Written {
  readonly kind: string;
  readonly apiVersion: string;
  readonly kubeConfigFile: string;
}

/** Returns the problem of a plugin's configuration, or undefined. */
export function webhookConfigurationProblem(configuration: unknown): string | undefined {
  if (configuration === undefined || configuration === null) return undefined;
  if (optionalRecord(configuration) === undefined) return 'it is no object';
  const { kind, apiVersion, kubeConfigFile } = fieldsOf<Written>(configuration);
  if (!KINDS.some(([version, name]) => version === apiVersion && name === kind)) {
    return `the kind must be ${KINDS.map(([version, name]) => `${name} of ${version}`).join(' or ')}`;
  }
  const file = text(kubeConfigFile);
  if (file !== '' && !path.isAbsolute(file)) {
    return `kubeConfigFile: Invalid value: ${JSON.stringify(file)}: must be an absolute file path`;
  }
  try {
    credentialsOf(configuration);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

/**
 * Returns the server's credentials for webhooks: the users of the configured kubeconfig by host. Throws KubeconfigError for an unusable
 * file.
 */
export function credentialsOf(configuration: unknown): CredentialsFor {
  const file = text(fieldsOf<Written>(configuration).kubeConfigFile);
  if (file === '') return () => NO_CREDENTIALS;
  const { byUser, current } = loadCredentials(file);
  return (host, port) => {
    for (const name of namesFor(host, port)) {
      const found = byUser.get(name);
      if (found !== undefined) return found;
    }
    return current ?? NO_CREDENTIALS;
  };
}

/** Exact host with port, or without the default port; then wildcards of its domains; then `*`. */
function namesFor(host: string, port: number): readonly string[] {
  const full = `${host.includes(':') ? `[${host}]` : host}:${String(port)}`;
  const exact = port === HTTPS_PORT ? [full, host] : [full];
  return [...exact.flatMap((name) => [name, ...wildcards(name)]), '*'];
}

function wildcards(name: string): readonly string[] {
  const parts = name.split('.');
  return parts.slice(1).map((_part, at) => `*.${parts.slice(at + 1).join('.')}`);
}
