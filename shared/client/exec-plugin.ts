import { spawn } from 'node:child_process';
import { isatty } from 'node:tty';
import type { Dialect } from '../names';
import { dialect, DIALECTS, namesIn } from '../names';
import { isJsonObject } from '../object/clone';
import { parseTime } from '../meta/time';

/** Whether a plugin may use the terminal. */
export const INTERACTIVE_MODES = ['Never', 'IfAvailable', 'Always'] as const;
export type InteractiveMode = (typeof INTERACTIVE_MODES)[number];

/** Input and output of credential plugins. A plugin has the names of the dialect that the apiVersion of its kubeconfig belongs to. */
export const EXEC_CREDENTIAL = {
  apiVersions: DIALECTS.flatMap((each) =>
    ['v1beta1', 'v1alpha1'].map((version) => `${namesIn(each).execGroup}/${version}`),
  ),
  /** The variable with the input of a plugin. */
  variable: (apiVersion: string): string => namesIn(dialectOf(apiVersion)).execVariable,
  /** The extension of a cluster that is for such plugins. */
  extension: (apiVersion: string): string => `${namesIn(dialectOf(apiVersion)).execGroup}/exec`,
} as const;

function dialectOf(apiVersion: string): Dialect {
  return DIALECTS.find((each) => apiVersion.startsWith(`${namesIn(each).execGroup}/`)) ?? dialect;
}

/** A credential plugin as described in a kubeconfig. */
export interface ExecPlugin {
  /** A name that is looked up in PATH, or a path. */
  readonly command: string;
  readonly args: readonly string[];
  /** Added to the environment of this process. */
  readonly env: Readonly<Record<string, string>>;
  readonly apiVersion: string;
  /** Shown if the program is not installed. */
  readonly installHint: string;
  readonly interactiveMode: InteractiveMode;
  /** The cluster information for the program; absent: none. */
  readonly cluster?: object | undefined;
}

/** The response of a plugin: a token, a certificate with its key, or both. */
export interface ExecCredential {
  /** Empty if there is none. */
  readonly token: string;
  /** PEM. */
  readonly cert?: string;
  readonly key?: string;
  /** Milliseconds since the epoch; Infinity without an expiration. */
  readonly expiresAtMs: number;
}

/** A plugin returned no credentials; the message is for the author of the configuration. */
export class ExecPluginError extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'ExecPluginError';
  }
}

const RUN_MS_MAX = 60_000;
const OUTPUT_BYTES_MAX = 1_048_576;
const STDIN = 0;

/** Runs the program once. Throws ExecPluginError; messages never contain its output, which may be a secret. */
export async function runExecPlugin(plugin: ExecPlugin): Promise<ExecCredential> {
  const { apiVersion, cluster, interactiveMode } = plugin;
  const hasTerminal = isatty(STDIN);
  if (interactiveMode === 'Always' && !hasTerminal) {
    throw failure('exec plugin cannot support interactive mode: standard input is not a terminal');
  }
  const interactive = interactiveMode !== 'Never' && hasTerminal;
  const info = {
    kind: KIND,
    apiVersion,
    spec: { ...(cluster === undefined ? {} : { cluster }), interactive },
  };
  return credentialIn(await outputOf(plugin, { interactive, info: JSON.stringify(info) }), apiVersion);
}

const KIND = 'ExecCredential';

async function outputOf(
  plugin: ExecPlugin,
  { interactive, info }: { readonly interactive: boolean; readonly info: string },
): Promise<string> {
  const { command, args, env, apiVersion, installHint } = plugin;
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      env: { ...process.env, ...env, [EXEC_CREDENTIAL.variable(apiVersion)]: info },
      stdio: [interactive ? 'inherit' : 'ignore', 'pipe', 'inherit'],
    });
    const parts: Buffer[] = [];
    let bytes = 0;
    // A child of the program may keep its output open.
    const end = (): void => {
      child.stdout.destroy();
      child.kill('SIGKILL');
    };
    const timer = setTimeout(end, RUN_MS_MAX);
    child.stdout.on('data', (part: Buffer) => {
      bytes += part.length;
      if (bytes > OUTPUT_BYTES_MAX) end();
      else parts.push(part);
    });
    child.on('error', (error: NodeJS.ErrnoException) => {
      clearTimeout(timer);
      const why = error.code === 'ENOENT' ? `executable ${command} not found` : error.message;
      const hint = error.code === 'ENOENT' && installHint !== '' ? `\n\n${installHint}` : '';
      reject(failure(`exec: ${why}${hint}`, error));
    });
    child.on('close', (code, signal) => {
      clearTimeout(timer);
      if (code === 0 && bytes <= OUTPUT_BYTES_MAX) resolve(Buffer.concat(parts).toString());
      else if (bytes > OUTPUT_BYTES_MAX) reject(failure(`exec: executable ${command} wrote too much`));
      else if (code === null) reject(failure(`exec: executable ${command} was ended by ${String(signal)}`));
      else reject(failure(`exec: executable ${command} failed with exit code ${String(code)}`));
    });
  });
}

interface Written {
  readonly kind?: unknown;
  readonly apiVersion?: unknown;
  readonly status?: unknown;
}

interface WrittenStatus {
  readonly token?: unknown;
  readonly clientCertificateData?: unknown;
  readonly clientKeyData?: unknown;
  readonly expirationTimestamp?: unknown;
}

function credentialIn(output: string, wanted: string): ExecCredential {
  let answer: unknown;
  try {
    answer = JSON.parse(output);
  } catch {
    throw failure('exec: decoding stdout: it is no JSON');
  }
  const { kind, apiVersion, status } = (isJsonObject(answer) ? answer : {}) as Written;
  if (kind !== KIND) throw failure(`exec: decoding stdout: it is no ${KIND}`);
  if (apiVersion !== wanted) {
    const got = typeof apiVersion === 'string' ? apiVersion : '';
    throw failure(`exec plugin is configured to use API version ${wanted}, plugin returned version ${got}`);
  }
  if (!isJsonObject(status)) throw failure("exec plugin didn't return a status field");
  const { token, clientCertificateData, clientKeyData, expirationTimestamp } = status as WrittenStatus;
  const cert = textOf(clientCertificateData);
  const key = textOf(clientKeyData);
  if (textOf(token) === '' && cert === '' && key === '') {
    throw failure("exec plugin didn't return a token or cert/key pair");
  }
  if ((cert === '') !== (key === '')) {
    throw failure('exec plugin returned only certificate or key, not both');
  }
  return {
    token: textOf(token),
    ...(cert === '' ? {} : { cert, key }),
    expiresAtMs: expiryOf(expirationTimestamp),
  };
}

function expiryOf(value: unknown): number {
  const text = textOf(value);
  if (text === '') return Infinity;
  const time = parseTime(text);
  if (time === undefined) throw failure('exec: decoding stdout: expirationTimestamp is no time');
  return time;
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function failure(message: string, cause?: unknown): ExecPluginError {
  return new ExecPluginError(message, cause);
}
