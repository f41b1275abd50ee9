import path from 'node:path';
import type { ClientOptions } from '../../../../shared/client/options';
import { loadCredentials } from '../../../../shared/client/kubeconfig';
import { GROUP } from '../../../../shared/names';
import { fieldsOf, optionalRecord, text } from '../../../../shared/object/accessors';

/** As whom this server calls webhooks: a certificate, or a token. */
export type Credentials = Pick<ClientOptions, 'cert' | 'key' | 'token' | 'tokenFile'>;

/** Finds the credentials for a host and port. */
export type CredentialsFor = (host: string, port: number) => Credentials;

const NOBODY: Credentials = {};
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

/** What is wrong with the configuration of one of the two plugins; undefined for a good one, or none. */
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
 * Who this server is to webhooks: the users of the kubeconfig that the configuration names, by the host they are for. Throws
 * KubeconfigError for a file that cannot be used.
 */
export function credentialsOf(configuration: unknown): CredentialsFor {
  const file = text(fieldsOf<Written>(configuration).kubeConfigFile);
  if (file === '') return () => NOBODY;
  const { byUser, current } = loadCredentials(file);
  return (host, port) => {
    for (const name of namesFor(host, port)) {
      const found = byUser.get(name);
      if (found !== undefined) return found;
    }
    return current ?? NOBODY;
  };
}

/** The host itself with its port, or without it for the usual one; then what ends like it; then everything. */
function namesFor(host: string, port: number): readonly string[] {
  const full = `${host.includes(':') ? `[${host}]` : host}:${String(port)}`;
  const exact = port === HTTPS_PORT ? [full, host] : [full];
  return [...exact.flatMap((name) => [name, ...wildcards(name)]), '*'];
}

function wildcards(name: string): readonly string[] {
  const parts = name.split('.');
  return parts.slice(1).map((_part, at) => `*.${parts.slice(at + 1).join('.')}`);
}
