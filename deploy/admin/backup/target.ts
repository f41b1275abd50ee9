import { copyFile, readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import type { FlagValues } from '../../../shared/flags/flag-row';
import { writeFileAtomically } from '../../../shared/files/atomic-file';
import type { BackupTarget } from './backup-target';
import type { BackedUpStore } from './snapshot-file';
import { openS3Target, parseS3Url } from './s3-target';

export const FILE_FLAG = {
  name: 'file',
  type: 'string',
  default: '',
  group: 'Backup',
  help: 'The file of the backup. It holds every Secret: keep it private.',
} as const;

const GROUP = 'Target';

export const TARGET_FLAGS = [
  {
    name: 'target',
    type: 'string',
    default: '',
    group: GROUP,
    help: 'A directory, or s3://<bucket>/<prefix>, that keeps several backups. The credentials of an object store are in AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN; NODE_EXTRA_CA_CERTS names a private authority.',
  },
  {
    name: 's3-endpoint',
    type: 'string',
    default: '',
    group: GROUP,
    help: 'The URL of an S3-compatible object store (https://minio.example.com:9000). Amazon S3 in --s3-region if empty.',
  },
  {
    name: 's3-region',
    type: 'string',
    default: 'us-east-1',
    group: GROUP,
    help: 'The region of the object store, which is part of every signature.',
  },
] as const;

type TargetFlags = FlagValues<typeof TARGET_FLAGS>;

/** Returns what is wrong with the flags, each as a sentence for the user. */
export function findTargetProblems({ target, s3Endpoint }: TargetFlags): readonly string[] {
  if (target === '') return [];
  if (!target.startsWith('s3:'))
    return path.isAbsolute(target)
      ? []
      : [`--target must be an absolute path or s3://<bucket>/<prefix>, not "${target}"`];
  return [
    ...(parseS3Url(target) === undefined
      ? [`--target must be like s3://<bucket>/<prefix>, not "${target}"`]
      : []),
    ...(s3Endpoint !== '' && !/^https?:\/\/[^/]+\/?$/u.test(s3Endpoint)
      ? [`--s3-endpoint must be like https://host:9000, not "${s3Endpoint}"`]
      : []),
    ...['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY']
      .filter((name) => (process.env[name] ?? '') === '')
      .map((name) => `the environment variable ${name} is required for an object store`),
  ];
}

/** Exactly one of --file and --target names the backup. */
export function findPlaceProblems({
  file,
  target,
}: {
  readonly file: string;
  readonly target: string;
}): readonly string[] {
  if (file === '' && target === '') return ['--file or --target is required'];
  return file !== '' && target !== '' ? ['--file and --target exclude each other'] : [];
}

/** Opens the target that the flags name; `findTargetProblems` has accepted them. */
export function openTarget({ target, s3Endpoint, s3Region }: TargetFlags): BackupTarget {
  const address = parseS3Url(target);
  if (address === undefined) return openDirectoryTarget(target);
  const endpoint =
    s3Endpoint === '' ? `https://s3.${s3Region}.amazonaws.com` : s3Endpoint.replace(/\/$/u, '');
  const { AWS_ACCESS_KEY_ID: accessKeyId = '', AWS_SECRET_ACCESS_KEY: secretAccessKey = '' } = process.env;
  const sessionToken = process.env['AWS_SESSION_TOKEN'];
  return openS3Target({
    ...address,
    endpoint,
    region: s3Region,
    accessKeyId,
    secretAccessKey,
    ...(sessionToken === undefined || sessionToken === '' ? {} : { sessionToken }),
  });
}

/** Backups as files of a directory that exists. */
export function openDirectoryTarget(directory: string): BackupTarget {
  return {
    list: async () => readdir(directory),
    put: async (file, name) => {
      // `backup` writes into the directory itself, so that a file that is there has its final name already.
      const place = path.join(directory, name);
      if (file !== place) await copyFile(file, place);
    },
    get: async (name, file) => copyFile(path.join(directory, name), file),
    remove: async (name) => rm(path.join(directory, name)),
    pathOf: (name) => path.join(directory, name),
  };
}

const NAME = /^orch-\d{8}T\d{6}Z\.(?:db|store)$/u;
const EXTENSION = { etcd: 'db', embedded: 'store' } as const satisfies Record<BackedUpStore, string>;

/** The name of a backup that is taken now, in UTC. Names sort by time. */
export function formatBackupName(store: BackedUpStore, nowMs: number): string {
  const time = new Date(nowMs).toISOString().replaceAll(/[-:]|\.\d+/gu, '');
  return `orch-${time}.${EXTENSION[store]}`;
}

/** The names of the backups in a target, the oldest first. */
export async function listBackups(target: BackupTarget): Promise<readonly string[]> {
  return (await target.list()).filter((name) => NAME.test(name)).toSorted();
}

/** The backup that `name` means; `latest` is the newest. Throws if there is none. */
export async function findBackup(target: BackupTarget, name: string): Promise<string> {
  const names = await listBackups(target);
  const found = name === 'latest' ? names.at(-1) : names.find((each) => each === name);
  if (found !== undefined) return found;
  throw new Error(
    names.length === 0
      ? 'the target has no backup; check --target and its prefix'
      : `the target has no backup "${name}"; it has ${names.join(', ')}`,
  );
}

/** Removes the oldest backups until `retention` are left. Returns the removed names. */
export async function removeOldBackups(target: BackupTarget, retention: number): Promise<readonly string[]> {
  const old = (await listBackups(target)).slice(0, -retention);
  for (const name of old) await target.remove(name);
  return old;
}

/** Writes metrics of the last successful backup for the textfile collector of node_exporter. */
export function writeBackupMetrics(
  file: string,
  { nowMs, bytes }: { readonly nowMs: number; readonly bytes: number },
): void {
  const rows = [
    [
      'orch_backup_last_success_timestamp_seconds',
      'When the last backup was taken, in seconds since the epoch.',
      Math.floor(nowMs / 1_000),
    ],
    ['orch_backup_last_size_bytes', 'The size of the last backup.', bytes],
  ] as const;
  const text = rows.map(
    ([name, help, value]) => `# HELP ${name} ${help}\n# TYPE ${name} gauge\n${name} ${String(value)}\n`,
  );
  writeFileAtomically(file, text.join(''), 0o644);
}
