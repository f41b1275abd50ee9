import { execFile } from 'node:child_process';
import path from 'node:path';
import { repositoryRoot } from '../../deploy/local/repository';

const PROGRAM = path.join(repositoryRoot, 'dist', 'deploy', 'admin', 'main.js');

export interface AdminOutcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs `orch-admin`; never rejects on a non-zero exit code. */
export async function runAdmin(...args: readonly string[]): Promise<AdminOutcome> {
  return runAdminWith({}, ...args);
}

/** The same with further environment variables. */
export async function runAdminWith(
  variables: Readonly<Record<string, string>>,
  ...args: readonly string[]
): Promise<AdminOutcome> {
  return new Promise((resolve) => {
    // The kubeconfig of the user who runs the tests is not meant.
    const env = { ...process.env, KUBECONFIG: '', ...variables };
    execFile(process.execPath, [PROGRAM, ...args], { env }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr });
    });
  });
}
