import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { promisify } from 'node:util';
import type { FlagRow, FlagValues } from '../../../shared/flags/flag-row';
import { STORE_IDENTITY_KEY } from '../../../shared/store-identity';
import type { Command } from '../../../shared/flags/command';
import { parsedCommand } from '../../../shared/flags/command';
import { ETCD_FLAGS, ETCD_GROUP, etcdProblems, withClient } from '../etcd/members';
import { renewIdentity } from '../etcd/renew-identity';
import type { Found } from '../output';
import { mebibytes, OUTPUT_FLAG, createOutcome } from '../output';
import { placeBackup } from './embedded';
import { checkSnapshot } from './snapshot-file';
import {
  FILE_FLAG,
  findBackup,
  findPlaceProblems,
  findTargetProblems,
  openTarget,
  TARGET_FLAGS,
} from './target';

const FINISH_FLAGS = [
  ...ETCD_FLAGS,
  {
    name: 'etcd-prefix',
    type: 'string',
    default: '/registry',
    group: ETCD_GROUP,
    help: 'The prefix of all keys in etcd, as the API servers have it.',
  },
  OUTPUT_FLAG,
] as const satisfies readonly FlagRow[];
const MEMBER_GROUP = 'The new member';
const RESTORE_FLAGS = [
  FILE_FLAG,
  ...TARGET_FLAGS,
  {
    name: 'backup',
    type: 'string',
    default: 'latest',
    group: 'Target',
    help: 'The name of the backup in --target, or latest.',
  },
  {
    name: 'move-old',
    type: 'bool',
    default: false,
    group: 'Backup',
    help: 'Move a directory that is there already to <directory>.old-<time> instead of refusing.',
  },
  {
    name: 'data-dir',
    type: 'string',
    default: '',
    group: MEMBER_GROUP,
    help: 'The data directory to make (--data-dir of etcd). It must not be there yet.',
  },
  {
    name: 'name',
    type: 'string',
    default: 'default',
    group: MEMBER_GROUP,
    help: 'The name of the member (--name of etcd).',
  },
  {
    name: 'initial-cluster',
    type: 'stringList',
    default: [],
    group: MEMBER_GROUP,
    help: 'All members of the new set, as <name>=<peer URL>. If empty, the member is a set of its own.',
  },
  {
    name: 'initial-cluster-token',
    type: 'string',
    default: '',
    group: MEMBER_GROUP,
    help: 'The token of the new set; another one than the old set has, so that old members cannot join it.',
  },
  {
    name: 'initial-advertise-peer-urls',
    type: 'stringList',
    default: [],
    group: MEMBER_GROUP,
    help: 'Where the other members reach this one.',
  },
  {
    name: 'embedded-dir',
    type: 'string',
    default: '',
    group: 'Embedded store',
    help: 'The directory to make (--embedded-dir of the API server), for a backup of an embedded store. It must not be there yet.',
  },
  OUTPUT_FLAG,
] as const satisfies readonly FlagRow[];

/** etcd's own tools that make a data directory, the newer first. */
const TOOLS = ['etcdutl', 'etcdctl'] as const;
const GROUP = 'Backup';

/** The commands that put backups in place. */
export const RESTORE_COMMANDS: readonly Command[] = [
  parsedCommand({
    name: ['restore', 'finish'],
    group: GROUP,
    summary: 'Gives a restored etcd a new identity, so that no resourceVersion is given out twice.',
    flags: FINISH_FLAGS,
    run: async (values: FlagValues<typeof FINISH_FLAGS>) => {
      const errors = etcdProblems(values);
      return errors.length > 0 ? { errors } : createOutcome(values.output, await finish(values));
    },
  }),
  parsedCommand({
    name: ['restore'],
    group: GROUP,
    summary:
      'Makes the data directory of one member of a new set, or of an embedded store, from a backup, after it has checked it.',
    flags: RESTORE_FLAGS,
    run: async (values: FlagValues<typeof RESTORE_FLAGS>) => {
      const { dataDir, embeddedDir, output, moveOld } = values;
      const flag = embeddedDir === '' ? 'data-dir' : 'embedded-dir';
      const directory = embeddedDir === '' ? dataDir : embeddedDir;
      const errors = [
        ...findPlaceProblems(values),
        ...findTargetProblems(values),
        ...(directory === '' ? ['--data-dir is required (or --embedded-dir)'] : []),
        ...(dataDir !== '' && embeddedDir !== '' ? ['--data-dir and --embedded-dir exclude each other'] : []),
        ...(directory !== '' && !moveOld && existsSync(directory)
          ? [`--${flag} ${directory} exists; give another one, or --move-old`]
          : []),
      ];
      if (errors.length > 0) return { errors };
      return createOutcome(
        output,
        await withBackupFile(values, directory, async (file) => {
          if (existsSync(directory)) await rename(directory, `${directory}.old-${String(Date.now())}`);
          return embeddedDir === '' ? restore({ ...values, file }) : restoreEmbedded({ ...values, file });
        }),
      );
    },
  }),
];

/** Runs `work` with the file of the backup. One from an object store is downloaded beside the new directory first. */
async function withBackupFile(
  values: FlagValues<typeof RESTORE_FLAGS>,
  directory: string,
  work: (file: string) => Promise<Found>,
): Promise<Found> {
  if (values.target === '') return work(values.file);
  const target = openTarget(values);
  const name = await findBackup(target, values.backup);
  const place = target.pathOf(name);
  if (place !== undefined) return work(place);
  const download = `${directory}.download`;
  try {
    await target.get(name, download);
    return await work(download);
  } finally {
    await rm(download, { force: true });
  }
}

async function restore(values: FlagValues<typeof RESTORE_FLAGS>): Promise<Found> {
  const { file, dataDir, name, initialCluster, initialClusterToken, initialAdvertisePeerUrls } = values;
  const checked = await checkSnapshot(file);
  if (checked.store !== 'etcd')
    throw new Error(`${file} is a backup of an embedded store; give --embedded-dir`);
  const given = [
    ['initial-cluster', initialCluster.join(',')],
    ['initial-cluster-token', initialClusterToken],
    ['initial-advertise-peer-urls', initialAdvertisePeerUrls.join(',')],
  ].filter(([, value]) => value !== '');
  const tool = await runTool([
    'snapshot',
    'restore',
    file,
    `--data-dir=${dataDir}`,
    `--name=${name}`,
    ...given.map(([flag, value]) => `--${String(flag)}=${String(value)}`),
  ]);
  const lines = [
    `${dataDir} holds ${file} (${mebibytes(checked.bytes)}, sha256 ${checked.sha256}), made by ${tool}`,
    'Do the same for each other member, start etcd with these flags, run `orch-admin restore finish`, and start the API servers.',
  ];
  return { json: { file, ...checked, dataDir, name, tool }, lines, code: 0 };
}

async function restoreEmbedded({ file, embeddedDir }: FlagValues<typeof RESTORE_FLAGS>): Promise<Found> {
  const checked = await checkSnapshot(file);
  if (checked.store !== 'embedded') throw new Error(`${file} is a backup of etcd; give --data-dir`);
  await placeBackup(file, embeddedDir);
  const lines = [
    `${embeddedDir} holds ${file} (${mebibytes(checked.bytes)}, sha256 ${checked.sha256})`,
    'Start the API server with it as --embedded-dir: the store is made then, and resourceVersions begin above all that were given out before.',
  ];
  return { json: { file, ...checked, embeddedDir }, lines, code: 0 };
}

async function finish(values: FlagValues<typeof FINISH_FLAGS>): Promise<Found> {
  const key = `${values.etcdPrefix}/${STORE_IDENTITY_KEY}`;
  const renewed = await withClient(values, async (client) =>
    renewIdentity(client, { key, nowMs: Date.now() }),
  );
  const { offset, revision } = renewed;
  const lines = [
    `the store is another one from here on: resourceVersions begin above ${String(offset)} (etcd is at revision ${String(revision)})`,
    'Clients that hold older ones list again by themselves.',
  ];
  return { json: renewed, lines, code: 0 };
}

/** Resolves with the tool that did it. Only etcd's own tools know what a data directory looks like. */
async function runTool(args: readonly string[]): Promise<string> {
  for (const tool of TOOLS) {
    try {
      await promisify(execFile)(tool, args, { env: { ...process.env, ETCDCTL_API: '3' } });
      return tool;
    } catch (error) {
      const { code, stderr = '' } = error as { readonly code?: unknown; readonly stderr?: string };
      if (code === 'ENOENT') continue;
      throw new Error(`${tool} could not make the data directory: ${lastLine(stderr)}`, { cause: error });
    }
  }
  throw new Error(
    'neither etcdutl nor etcdctl is installed, which make data directories of etcd: install one of them (Debian package etcd-client) and run this again',
  );
}

function lastLine(text: string): string {
  return text.trim().split('\n').at(-1) ?? '';
}
