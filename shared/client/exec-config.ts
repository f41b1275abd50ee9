import { resolve } from 'node:path';
import { defined } from '../defined';
import { fieldsOf, fieldsOfEach, strings, text } from '../object/accessors';
import type { ExecPlugin } from './exec-plugin';
import { EXEC_CREDENTIAL, INTERACTIVE_MODES } from './exec-plugin';

/** The cluster of a kubeconfig, as passed to plugins. */
export interface ExecCluster {
  readonly server: string;
  readonly tlsServerName?: string;
  /** PEM. */
  readonly ca?: Buffer;
  readonly insecureSkipTlsVerify: boolean;
  readonly extensions: unknown;
}

interface WrittenExec {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: readonly object[];
  readonly apiVersion: string;
  readonly installHint: string;
  readonly interactiveMode: string;
  readonly provideClusterInfo: boolean;
}

/**
 * Parses the `exec` of a user. A path is relative to the kubeconfig; a bare name is looked up in PATH. Throws an Error for the author of
 * the file.
 */
export function execPluginOf(
  exec: object,
  directory: string,
  cluster: () => ExecCluster | undefined,
): ExecPlugin {
  const written = fieldsOf<WrittenExec>(exec);
  const command = text(written.command);
  const apiVersion = text(written.apiVersion);
  const mode = text(written.interactiveMode ?? 'IfAvailable');
  const interactiveMode = INTERACTIVE_MODES.find((each) => each === mode);
  if (command === '') throw new Error('the user has an exec without a command');
  if (!EXEC_CREDENTIAL.apiVersions.includes(apiVersion)) {
    const all = EXEC_CREDENTIAL.apiVersions.join(', ');
    throw new Error(`the exec's apiVersion ${JSON.stringify(apiVersion)} is none of ${all}`);
  }
  if (interactiveMode === undefined) {
    const all = INTERACTIVE_MODES.join(', ');
    throw new Error(`the exec's interactiveMode ${JSON.stringify(mode)} is none of ${all}`);
  }
  const known = written.provideClusterInfo === true ? cluster() : undefined;
  return {
    command: /[\\/]/.test(command) ? resolve(directory, command) : command,
    args: strings(written.args),
    env: Object.fromEntries(
      fieldsOfEach<{ readonly name: string; readonly value: string }>(written.env).map((each) => [
        text(each.name),
        text(each.value),
      ]),
    ),
    apiVersion,
    installHint: text(written.installHint),
    interactiveMode,
    ...(known === undefined ? {} : { cluster: clusterInfo(known, apiVersion) }),
  };
}

/** Returns the cluster information for the plugin. */
function clusterInfo(
  { server, tlsServerName, ca, insecureSkipTlsVerify, extensions }: ExecCluster,
  apiVersion: string,
): object {
  const own = fieldsOfEach<{ readonly name: string; readonly extension: object }>(extensions).find(
    ({ name }) => name === EXEC_CREDENTIAL.extension(apiVersion),
  );
  return {
    server,
    ...defined({
      'tls-server-name': tlsServerName,
      'certificate-authority-data': ca?.toString('base64'),
    }),
    ...(insecureSkipTlsVerify ? { 'insecure-skip-tls-verify': true } : {}),
    config: own?.extension ?? null,
  };
}
