import { execFile, execFileSync, spawn } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { repositoryRoot } from '../../deploy/local/repository';
import { PATIENCE_MS } from '../../shared/testing/eventually';

export interface Kubectl {
  /** The name in test titles: `kubectl 1.20`. */
  readonly title: string;
  /** Undefined if not installed; its tests are skipped by name. */
  readonly program: string | undefined;
}

export interface KubectlResult {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** A kubectl of the time of Kubernetes v1.21, and a newer one if PATH has it. */
export function findKubectls(): readonly Kubectl[] {
  const old = path.join(repositoryRoot, '.tools', 'kubectl-1.20', 'usr', 'bin', 'kubectl');
  const onPath = (process.env['PATH'] ?? '')
    .split(path.delimiter)
    .map((folder) => path.join(folder, 'kubectl'))
    .find(isProgram);
  const newerVersion = onPath === undefined ? undefined : versionOf(onPath);
  const isOtherVersion = newerVersion !== undefined && newerVersion !== OLD_VERSION;
  return [
    { title: `kubectl ${OLD_VERSION}`, program: isProgram(old) ? old : undefined },
    {
      title: isOtherVersion ? `kubectl ${newerVersion}` : 'a newer kubectl',
      program: isOtherVersion ? onPath : undefined,
    },
  ];
}

/** The identity and environment of kubectl. */
export interface KubectlOptions {
  readonly kubeconfig: string;
  readonly home: string;
  readonly input?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** Runs kubectl to its end; never rejects on a non-zero exit. */
export function runKubectl(
  program: string,
  args: readonly string[],
  options: KubectlOptions,
): Promise<KubectlResult> {
  return new Promise((resolve) => {
    const child = execFile(
      program,
      args,
      { env: environment(options), timeout: PATIENCE_MS, maxBuffer: OUTPUT_BYTES_MAX },
      (error, stdout, stderr) => {
        const exitCode = error === null ? 0 : typeof error.code === 'number' ? error.code : 1;
        resolve({ exitCode, stdout, stderr });
      },
    );
    child.stdin?.end(options.input ?? '');
  });
}

/** A kubectl that keeps printing, such as `get --watch`. `lines` ends when it is stopped. */
export function followKubectl(
  program: string,
  args: readonly string[],
  options: Omit<KubectlOptions, 'input'>,
): { readonly lines: AsyncIterator<string>; stop(): void } {
  const child = spawn(program, args, { env: environment(options), stdio: ['ignore', 'pipe', 'inherit'] });
  return {
    lines: createInterface({ input: child.stdout })[Symbol.asyncIterator](),
    stop() {
      child.kill('SIGKILL');
    },
  };
}

const OLD_VERSION = '1.20';
const OUTPUT_BYTES_MAX = 64 * 1024 * 1024;

/** A separate home, so that servers share no discovery cache, and files of `kubectl edit` are deleted with it. */
function environment({ kubeconfig, home, env }: KubectlOptions): NodeJS.ProcessEnv {
  return { ...process.env, KUBECONFIG: kubeconfig, HOME: home, TMPDIR: home, ...env };
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** `1.32`, or undefined if the program does not print it. */
function versionOf(program: string): string | undefined {
  try {
    const text = execFileSync(program, ['version', '--client', '-o', 'json'], {
      encoding: 'utf8',
      timeout: PATIENCE_MS,
    });
    const { clientVersion } = JSON.parse(text) as { clientVersion?: { gitVersion?: string } };
    return /^v(\d+\.\d+)/u.exec(clientVersion?.gitVersion ?? '')?.[1];
  } catch {
    return undefined;
  }
}
