import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { FlagRow, FlagValues } from '../../../shared/flags/flag-row';
import { hasKubeconfig, kubeconfigFlag } from '../api-server';
import type { Command } from '../../../shared/flags/command';
import { parsedCommand } from '../../../shared/flags/command';
import type { Member, SnapshotPiece } from '../etcd/members';
import { ETCD_FLAGS, etcdProblems, withMembers } from '../etcd/members';
import type { Found } from '../output';
import { mebibytes, OUTPUT_FLAG, createOutcome } from '../output';
import { embeddedBackup } from './embedded';
import { RESTORE_COMMANDS } from './restore-commands';
import type { BackedUpStore } from './snapshot-file';
import { checkSnapshot, saveSnapshot } from './snapshot-file';
import {
  FILE_FLAG,
  findPlaceProblems,
  findTargetProblems,
  formatBackupName,
  listBackups,
  openTarget,
  removeOldBackups,
  TARGET_FLAGS,
  writeBackupMetrics,
} from './target';

const BACKUP_FLAGS = [
  FILE_FLAG,
  ...TARGET_FLAGS,
  {
    name: 'retention',
    type: 'int',
    default: 14,
    min: 1,
    group: 'Target',
    help: 'How many backups --target keeps. The oldest are removed after a new one was stored.',
  },
  {
    name: 'metrics-file',
    type: 'string',
    default: '',
    group: 'Target',
    help: "A file (*.prom) of node_exporter's textfile collector that gets the time and the size of the last backup.",
  },
  ...ETCD_FLAGS,
  kubeconfigFlag(
    'Embedded store',
    'of a superuser of an API server on an embedded store, whose backup is taken if --etcd-servers is empty',
  ),
  OUTPUT_FLAG,
] as const satisfies readonly FlagRow[];
const VERIFY_FLAGS = [FILE_FLAG, OUTPUT_FLAG] as const satisfies readonly FlagRow[];
const LIST_FLAGS = [...TARGET_FLAGS, OUTPUT_FLAG] as const satisfies readonly FlagRow[];
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
      return createOutcome(output, { json: { file, ...checked }, lines, code: 0 });
    },
  }),
  parsedCommand({
    name: ['backup', 'list'],
    group: GROUP,
    summary: 'Lists the backups of a target, the oldest first.',
    flags: LIST_FLAGS,
    run: async (values: FlagValues<typeof LIST_FLAGS>) => {
      const errors = [
        ...(values.target === '' ? ['--target is required'] : []),
        ...findTargetProblems(values),
      ];
      if (errors.length > 0) return { errors };
      const backups = await listBackups(openTarget(values));
      return createOutcome(values.output, { json: { backups }, lines: backups, code: 0 });
    },
  }),
  parsedCommand({
    name: ['backup'],
    group: GROUP,
    summary: 'Takes a snapshot of etcd or of an embedded store, with its checksum, while everything runs.',
    flags: BACKUP_FLAGS,
    run: async (values: FlagValues<typeof BACKUP_FLAGS>) => {
      const { file, target, kubeconfig } = values;
      const isEmbedded = hasKubeconfig(kubeconfig) && values.etcdServers.length === 0;
      const errors = [
        ...findPlaceProblems(values),
        ...findTargetProblems(values),
        ...(isEmbedded ? [] : etcdProblems(values)),
      ];
      if (errors.length > 0) return { errors };
      const take = async (place: string): Promise<Found> =>
        isEmbedded
          ? save(embeddedBackup(kubeconfig, values), { file: place, from: 'the embedded store' })
          : withMembers(values, async (members) => backup(members, place));
      if (target === '') return createOutcome(values.output, await take(file));
      return createOutcome(
        values.output,
        await backUpToTarget(values, isEmbedded ? 'embedded' : 'etcd', take),
      );
    },
  }),
  ...RESTORE_COMMANDS,
];

/** Takes a backup, stores it in the target, and removes old ones. The metrics are written last, so that they vouch for all of it. */
async function backUpToTarget(
  values: FlagValues<typeof BACKUP_FLAGS>,
  store: BackedUpStore,
  take: (file: string) => Promise<Found>,
): Promise<Found> {
  const target = openTarget(values);
  const name = formatBackupName(store, Date.now());
  const folder =
    target.pathOf(name) === undefined ? await mkdtemp(path.join(tmpdir(), 'orch-backup-')) : undefined;
  try {
    const file = target.pathOf(name) ?? path.join(folder ?? '', name);
    const found = await take(file);
    const { bytes } = await checkSnapshot(file);
    await target.put(file, name);
    const removed = await removeOldBackups(target, values.retention);
    if (values.metricsFile !== '') writeBackupMetrics(values.metricsFile, { nowMs: Date.now(), bytes });
    const lines = [`stored as ${name} in ${values.target}`, ...removed.map((each) => `removed ${each}`)];
    return {
      ...found,
      json: { ...(found.json as object), target: values.target, name, removed },
      lines: [...found.lines, ...lines],
    };
  } finally {
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  }
}

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
