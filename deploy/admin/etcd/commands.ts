import type { FlagRow, FlagValues } from '../../../shared/flags/flag-row';
import type { Command } from '../../../shared/flags/command';
import { parsedCommand } from '../../../shared/flags/command';
import type { Found } from '../output';
import { columns, mebibytes, OUTPUT_FLAG, painted, createOutcome } from '../output';
import type { Alarm, KnownMember, Member, MemberStatus } from './members';
import { ETCD_FLAGS, etcdProblems, withMembers } from './members';

const FLAGS = [...ETCD_FLAGS, OUTPUT_FLAG] as const satisfies readonly FlagRow[];
type Values = FlagValues<typeof FLAGS>;
const GROUP = 'etcd';

/** The commands that look after a set of etcd members. */
export const ETCD_COMMANDS: readonly Command[] = [
  command(
    'status',
    'Shows members, leader, size, alarms and raft lag; exit code 1 if something is wrong.',
    status,
  ),
  command(
    'defragment',
    'Gives free space in the database back to the disk, one member at a time, the leader last; a member answers nothing meanwhile.',
    defragment,
  ),
  command('disarm', 'Disarms all alarms. Make room first, or a full member raises its alarm again.', disarm),
];

function command(
  name: string,
  summary: string,
  run: (members: readonly Member[]) => Promise<Found>,
): Command {
  return parsedCommand({
    name: ['etcd', name],
    group: GROUP,
    summary,
    flags: FLAGS,
    run: async (values: Values) => {
      const errors = etcdProblems(values);
      if (errors.length > 0) return { errors };
      return createOutcome(values.output, await withMembers(values, run));
    },
  });
}

interface Report {
  readonly endpoint: string;
  readonly name?: string;
  readonly isLeader?: boolean;
  /** Entries of the log that the newest member knows, and this one has not applied. */
  readonly raftLag?: number;
  readonly status?: MemberStatus;
  readonly error?: string;
}

async function status(members: readonly Member[]): Promise<Found> {
  const asked = await Promise.all(members.map(async (member) => reportOf(member)));
  const first = members.find((_member, at) => asked[at]?.status !== undefined);
  const troubles: string[] = [];
  // While there is no leader a member that answers cannot say these.
  const orNone = async <T>(asking: Promise<readonly T[]> | undefined): Promise<readonly T[]> =>
    (await asking?.catch((error: unknown) => {
      troubles.push(messageOf(error));
      return [];
    })) ?? [];
  const known = await orNone(first?.members());
  const alarms = await orNone(first?.alarms());
  const newest = Math.max(0, ...asked.map(({ status: each }) => each?.raftIndex ?? 0));
  const reports = asked.map((report): Report => {
    const { status: own } = report;
    if (own === undefined) return report;
    return {
      ...report,
      name: known.find(({ id }) => id === own.memberId)?.name ?? '',
      isLeader: leads(own),
      raftLag: newest - own.raftAppliedIndex,
    };
  });
  const problems = [...problemsOf(reports, known, alarms), ...troubles];
  const lines = [
    ...columns([
      ['ENDPOINT', 'NAME', 'VERSION', 'ROLE', 'SIZE', 'IN USE', 'REVISION', 'RAFT LAG'],
      ...reports.map(rowOf),
    ]),
    ...problems.map((problem) => painted(problem, 'bad')),
  ];
  return { json: { members: reports, known, alarms, problems }, lines, code: problems.length === 0 ? 0 : 1 };
}

async function reportOf(member: Member): Promise<Report> {
  const { endpoint } = member;
  try {
    return { endpoint, status: await member.status() };
  } catch (error) {
    return { endpoint, error: messageOf(error) };
  }
}

function rowOf({ endpoint, name = '', isLeader, raftLag, status: own }: Report): readonly string[] {
  if (own === undefined) return [endpoint, '', painted('no answer', 'bad')];
  const role = own.isLearner ? 'learner' : isLeader === true ? painted('leader', 'good') : 'follower';
  return [
    endpoint,
    name,
    own.version,
    role,
    mebibytes(own.dbSizeBytes),
    mebibytes(own.dbSizeInUseBytes),
    String(own.revision),
    String(raftLag),
  ];
}

/** More entries than a member is behind while all is well. */
const RAFT_LAG_MAX = 1_000;

function problemsOf(
  reports: readonly Report[],
  known: readonly KnownMember[],
  alarms: readonly Alarm[],
): readonly string[] {
  const nameOf = (id: string): string => known.find((each) => each.id === id)?.name ?? id;
  const leaders = new Set(reports.flatMap(({ status: own }) => (own === undefined ? [] : [own.leaderId])));
  return [
    ...reports.flatMap(({ error }) => (error === undefined ? [] : [error])),
    ...(leaders.has('0') ? ['a member knows no leader'] : []),
    ...(leaders.size > 1 ? ['members name different leaders'] : []),
    ...reports
      .filter(({ raftLag = 0 }) => raftLag > RAFT_LAG_MAX)
      .map(({ endpoint, raftLag }) => `${endpoint} is ${String(raftLag)} entries of the log behind`),
    ...alarms.map(({ memberId, kind }) =>
      kind === 'Nospace'
        ? `${nameOf(memberId)} is full and takes no writes: compact, run "etcd defragment", then "etcd disarm"`
        : `${nameOf(memberId)} has the alarm ${kind}: its data differ from those of the others; replace the member`,
    ),
  ];
}

async function defragment(members: readonly Member[]): Promise<Found> {
  const before = await Promise.all(
    members.map(async (member) => ({ member, status: await member.status() })),
  );
  // The leader last, so that it changes once at most.
  const order = before.toSorted((a, b) => Number(leads(a.status)) - Number(leads(b.status)));
  const done: { readonly endpoint: string; readonly beforeBytes: number; readonly afterBytes: number }[] = [];
  for (const { member, status: was } of order) {
    await member.defragment();
    const { dbSizeBytes } = await member.status();
    done.push({ endpoint: member.endpoint, beforeBytes: was.dbSizeBytes, afterBytes: dbSizeBytes });
  }
  const lines = done.map(
    ({ endpoint, beforeBytes, afterBytes }) =>
      `${endpoint}: ${mebibytes(beforeBytes)} before, ${mebibytes(afterBytes)} now`,
  );
  return { json: { members: done }, lines, code: 0 };
}

function leads({ memberId, leaderId }: MemberStatus): boolean {
  return memberId === leaderId;
}

async function disarm([member]: readonly Member[]): Promise<Found> {
  const alarms = (await member?.alarms()) ?? [];
  for (const alarm of alarms) await member?.disarm(alarm);
  const lines =
    alarms.length === 0
      ? ['there are no alarms']
      : alarms.map(({ memberId, kind }) => `${kind} of ${memberId} disarmed`);
  return { json: { disarmed: alarms }, lines, code: 0 };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
