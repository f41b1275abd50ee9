import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { loadAll } from 'js-yaml';
import { repositoryRoot } from '../../deploy/local/repository';
import { PATIENCE_MS } from '../../shared/testing/eventually';
import type { Body } from './client';

/** The folder of the chart. */
export const CHART = path.join(repositoryRoot, 'helm', 'orch');

export interface Helm {
  /** The name in test titles: `helm 3.10`. */
  readonly title: string;
  /** Undefined if not installed; its tests are skipped by name. */
  readonly program: string | undefined;
}

/** A Helm release of the time of Kubernetes v1.21, and a newer one. */
export const HELMS: readonly [old: Helm, newer: Helm] = [helmOf('3.6'), helmOf('3.10')];

export interface HelmResult {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs helm to its end; never rejects on a non-zero exit. */
export async function runHelm(
  { program }: Helm,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<HelmResult> {
  return new Promise((resolve) => {
    execFile(
      program ?? '',
      args,
      { env: { ...process.env, ...env }, timeout: PATIENCE_MS, maxBuffer: OUTPUT_BYTES_MAX },
      (error, stdout, stderr) => {
        const exitCode = error === null ? 0 : typeof error.code === 'number' ? error.code : 1;
        resolve({ exitCode, stdout, stderr });
      },
    );
  });
}

/** Returns the objects of a template command. Throws the error output of helm. */
export async function rendered(helm: Helm, args: readonly string[]): Promise<readonly Body[]> {
  const result = await runHelm(helm, [
    'template',
    RELEASE,
    CHART,
    '--namespace',
    RELEASE_NAMESPACE,
    '--kube-version=1.21.0',
    ...IMAGE,
    ...args,
  ]);
  if (result.exitCode !== 0) throw new Error(result.stderr);
  return loadAll(result.stdout).filter((each): each is Body => typeof each === 'object' && each !== null);
}

/** Arguments that set the one required value. */
export const IMAGE: readonly string[] = ['--set', 'image.repository=registry.example.com/orch'];

/** The name and namespace of the rendered release. */
export const RELEASE = 'demo';
export const RELEASE_NAMESPACE = 'control-plane';

const OUTPUT_BYTES_MAX = 64 * 1024 * 1024;

function helmOf(version: string): Helm {
  const program = path.join(repositoryRoot, '.tools', `helm-${version}`, 'package', 'bin', 'helm');
  return { title: `helm ${version}`, program: existsSync(program) ? program : undefined };
}
