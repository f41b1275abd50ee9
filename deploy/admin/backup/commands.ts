import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { promisify } from 'node:util';
import type { FlagRow, FlagValues } from '../../../shared/flags/flag-row';
import { STORE_IDENTITY_KEY } from '../../../shared/store-identity';
import type { Command } from '../command';
import { parsedCommand } from '../command';
import type { Member, SnapshotPiece } from '../etcd/members';
import { ETCD_FLAGS, ETCD_GROUP, etcdProblems, withClient, withMembers } from '../etcd/members';
import { renewIdentity } from '../etcd/renew-identity';
import type { Found } from '../output';
import { mebibytes, OUTPUT_FLAG, told } from '../output';
import { embeddedBackup, placeBackup } from './embedded';
import { checkSnapshot, saveSnapshot } from './snapshot-file';

const FILE_FLAG = {
  name: 'file',
  type: 'string',
  default: '',
  group: 'Backup',
  help: 'The file of the backup. It holds every Secret: keep it where nobody else reads it.',
} as const;

const KUBECONFIG_FLAG = {
  name: 'kubeconfig',
  type: 'string',
  default: '',
  group: 'Embedded store',
  help: 'Path of the kubeconfig file of a superuser of an API server on an embedded store, whose backup is taken instead of that of etcd.',
} as const;
const BACKUP_FLAGS = [
  FILE_FLAG,
  ...ETCD_FLAGS,
  KUBECONFIG_FLAG,
  OUTPUT_FLAG,
] as const satisfies readonly FlagRow[];
const VERIFY_FLAGS = [FILE_FLAG, OUTPUT_FLAG] as const satisfies readonly FlagRow[];
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
    group: KUBECONFIG_FLAG.group,
    help: 'The directory to make (--embedded-dir of the API server), for a backup of an embedded store. It must not be there yet.',
  },
  OUTPUT_FLAG,
] as const satisfies readonly FlagRow[];

/** etcd's own tools that make a data directory, the newer first. */
const TOOLS = ['etcdutl', 'etcdctl'] as const;
const GROUP = 'Backup';

/** The commands that take backups, and put them in place. */
export const BACKUP_COMMANDS: readonly Command[] = [
  parsedCommand({
    name: ['backup', 'verify'],
    group: GROUP,
    summary: 'Says whether a backup is whole and unchanged.',
    flags: VERIFY_FLAGS,
    run: async ({ file, output }: FlagValues<typeof VERIFY_FLAGS>) => {
      if (file === '') return { errors: ['--file is required'] };
      const checked = await checkSnapshot(file);
      const lines = [`${file} is whole: ${mebibytes(checked.bytes)}, sha256 ${checked.sha256}`];
      return told(output, { json: { file, ...checked }, lines, code: 0 });
    },
  }),
  parsedCommand({
    name: ['backup'],
    group: GROUP,
    summary: 'Takes a snapshot of etcd or of an embedded store, with its checksum, while everything runs.',
    flags: BACKUP_FLAGS,
    run: async (values: FlagValues<typeof BACKUP_FLAGS>) => {
      const { file, output, kubeconfig } = values;
      const isEmbedded = kubeconfig !== '' && values.etcdServers.length === 0;
      const problems = isEmbedded ? [] : etcdProblems(values);
      const errors = [...(file === '' ? ['--file is required'] : []), ...problems];
      if (errors.length > 0) return { errors };
      if (isEmbedded)
        return told(output, await save(embeddedBackup(kubeconfig, values), { file, from: kubeconfig }));
      return told(output, await withMembers(values, async (members) => backup(members, file)));
    },
  }),
  parsedCommand({
    name: ['restore', 'finish'],
    group: GROUP,
    summary: 'Gives a restored etcd a new identity, so that no resourceVersion is given out twice.',
    flags: FINISH_FLAGS,
    run: async (values: FlagValues<typeof FINISH_FLAGS>) => {
      const errors = etcdProblems(values);
      return errors.length > 0 ? { errors } : told(values.output, await finish(values));
    },
  }),
  parsedCommand({
    name: ['restore'],
    group: GROUP,
    summary:
      'Makes the data directory of one member of a new set, or of an embedded store, from a backup, after it has checked it.',
    flags: RESTORE_FLAGS,
    run: async (values: FlagValues<typeof RESTORE_FLAGS>) => {
      const { file, dataDir, embeddedDir, output } = values;
      const flag = embeddedDir === '' ? 'data-dir' : 'embedded-dir';
      const directory = embeddedDir === '' ? dataDir : embeddedDir;
      const errors = [
        ...(file === '' ? ['--file is required'] : []),
        ...(directory === '' ? ['--data-dir is required (or --embedded-dir)'] : []),
        ...(dataDir !== '' && embeddedDir !== '' ? ['--data-dir and --embedded-dir exclude each other'] : []),
        ...(directory !== '' && existsSync(directory)
          ? [`--${flag} ${directory} is there already; give one that is not, or move the old one away`]
          : []),
      ];
      if (errors.length > 0) return { errors };
      return told(output, embeddedDir === '' ? await restore(values) : await restoreEmbedded(values));
    },
  }),
];

async function backup(members: readonly Member[], file: string): Promise<Found> {
  const member = await newestOf(members);
  return save(member.snapshot(), { file, from: member.endpoint });
}

async function save(
  pieces: AsyncIterable<SnapshotPiece>,
  { file, from }: { readonly file: string; readonly from: string },
): Promise<Found> {
  const began = performance.now();
  const progress = progressLine();
  const checked = await saveSnapshot(pieces, file, progress.tell);
  progress.end();
  const seconds = (performance.now() - began) / 1_000;
  const lines = [
    `${file}: ${mebibytes(checked.bytes)} from ${from} in ${seconds.toFixed(1)} s, sha256 ${checked.sha256}`,
  ];
  return { json: { file, ...checked, endpoint: from, seconds }, lines, code: 0 };
}

/** The member that answers and has applied the most; a snapshot is what one member has. Rejects where none answers. */
async function newestOf(members: readonly Member[]): Promise<Member> {
  const asked = await Promise.allSettled(
    members.map(async (member) => ({ member, status: await member.status() })),
  );
  const answers = asked.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
  const [newest] = answers.toSorted((a, b) => b.status.raftAppliedIndex - a.status.raftAppliedIndex);
  if (newest !== undefined) return newest.member;
  throw (
    asked.flatMap((each) => (each.status === 'rejected' ? [each.reason as Error] : []))[0] ??
    new Error('no member')
  );
}

interface ProgressLine {
  readonly tell: (bytes: number, remaining: number) => void;
  readonly end: () => void;
}

/** One line that changes, on a terminal; nothing elsewhere. */
function progressLine(): ProgressLine {
  const { stderr } = process;
  if (!stderr.isTTY) return { tell: () => undefined, end: () => undefined };
  let toldPercent = -1;
  return {
    tell: (bytes, remaining) => {
      const percent = Math.floor((100 * bytes) / (bytes + remaining));
      if (percent === toldPercent) return;
      toldPercent = percent;
      stderr.write(`\r${String(percent)} % of ${mebibytes(bytes + remaining)}`);
    },
    end: () => {
      stderr.write('\r\u001B[K');
    },
  };
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
