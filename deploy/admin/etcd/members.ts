import type { IResponseStream } from 'etcd3/lib/rpc';
import { Etcd3 } from 'etcd3';
import type { FlagValues } from '../../../shared/flags/flag-row';
import { defined } from '../../../shared/defined';
import { readFlagFile } from '../../../shared/flags/command';
import { allowAddresses } from './address-identity';

export const ETCD_GROUP = 'etcd';

/** Where etcd is, and who asks: named as the API server names them. */
export const ETCD_FLAGS = [
  {
    name: 'etcd-servers',
    type: 'stringList',
    default: [],
    group: ETCD_GROUP,
    help: 'The etcd members to connect to (scheme://host:port), separated by commas.',
  },
  {
    name: 'etcd-cafile',
    type: 'string',
    default: '',
    group: ETCD_GROUP,
    help: 'CA bundle (PEM) that verifies the certificates of etcd.',
  },
  {
    name: 'etcd-certfile',
    type: 'string',
    default: '',
    group: ETCD_GROUP,
    help: 'The client certificate (PEM) for etcd.',
  },
  {
    name: 'etcd-keyfile',
    type: 'string',
    default: '',
    group: ETCD_GROUP,
    help: 'The private key (PEM) of --etcd-certfile.',
  },
  {
    name: 'timeout',
    type: 'duration',
    default: '30s',
    group: ETCD_GROUP,
    help: 'How long one call to a member may take; for a snapshot or a defragmentation, how long it may take as a whole.',
  },
] as const;

export type EtcdFlags = FlagValues<typeof ETCD_FLAGS>;

/** What is wrong with the flags, each a sentence for the user. */
export function etcdProblems({ etcdServers, etcdCertfile, etcdKeyfile }: EtcdFlags): readonly string[] {
  return [
    ...(etcdServers.length === 0 ? ['--etcd-servers is required'] : []),
    ...etcdServers
      .filter((server) => !/^https?:\/\/[^/]+\/?$/.test(server))
      .map((server) => `--etcd-servers must be like https://host:2379, not "${server}"`),
    ...((etcdCertfile === '') === (etcdKeyfile === '')
      ? []
      : ['--etcd-certfile and --etcd-keyfile must be given together']),
  ];
}

/** One member, over a connection of its own. Calls reject with one sentence that says what to do. */
export interface Member {
  readonly endpoint: string;
  status(): Promise<MemberStatus>;
  members(): Promise<readonly KnownMember[]>;
  alarms(): Promise<readonly Alarm[]>;
  disarm(alarm: Alarm): Promise<void>;
  defragment(): Promise<void>;
  /** The database as it is now, in pieces with what is still to come, in bytes; the last 32 are a checksum. */
  snapshot(): AsyncIterable<SnapshotPiece>;
}

/** What a member says of itself. Ids are decimal, as etcd's API has them. */
export interface MemberStatus {
  readonly memberId: string;
  readonly leaderId: string;
  readonly version: string;
  readonly revision: number;
  readonly dbSizeBytes: number;
  readonly dbSizeInUseBytes: number;
  readonly raftTerm: number;
  readonly raftIndex: number;
  readonly raftAppliedIndex: number;
  readonly isLearner: boolean;
  readonly errors: readonly string[];
}

export interface KnownMember {
  readonly id: string;
  readonly name: string;
  readonly clientUrls: readonly string[];
}

export interface Alarm {
  readonly memberId: string;
  readonly kind: 'None' | 'Nospace' | 'Corrupt';
}

export interface SnapshotPiece {
  readonly bytes: Buffer;
  readonly remaining: number;
}

/** Runs `work` with all members that the flags name, and closes their connections after it. */
export async function withMembers<T>(
  flags: EtcdFlags,
  work: (members: readonly Member[]) => Promise<T>,
): Promise<T> {
  const credentials = credentialsOf(flags);
  const clients = flags.etcdServers.map((server) => {
    const endpoint = server.replace(/\/$/, '');
    const client = new Etcd3({ hosts: endpoint, dialTimeout: flags.timeoutMs, ...defined({ credentials }) });
    allowAddresses(client);
    return { client, member: memberOf(endpoint, client, flags.timeoutMs) };
  });
  try {
    return await work(clients.map(({ member }) => member));
  } finally {
    for (const { client } of clients) client.close();
  }
}

/** The same with one client that knows all of them, and switches to another member when one is unavailable. */
export async function withClient<T>(flags: EtcdFlags, work: (client: Etcd3) => Promise<T>): Promise<T> {
  const hosts = flags.etcdServers.map((server) => server.replace(/\/$/, ''));
  const credentials = credentialsOf(flags);
  const client = new Etcd3({
    hosts,
    dialTimeout: flags.timeoutMs,
    defaultCallOptions: () => ({ deadline: Date.now() + flags.timeoutMs }),
    ...defined({ credentials }),
  });
  allowAddresses(client);
  try {
    return await work(client);
  } catch (error) {
    throw explained(hosts.join(', '), error);
  } finally {
    client.close();
  }
}

interface Credentials {
  readonly rootCertificate: Buffer;
  readonly certChain?: Buffer;
  readonly privateKey?: Buffer;
}

function credentialsOf({
  etcdServers,
  etcdCafile,
  etcdCertfile,
  etcdKeyfile,
}: EtcdFlags): Credentials | undefined {
  if (!etcdServers.some((server) => server.startsWith('https:'))) return undefined;
  if (etcdCafile === '')
    throw new Error('https needs --etcd-cafile, the authority of the certificates of etcd');
  const own =
    etcdCertfile === ''
      ? {}
      : {
          certChain: readFlagFile('etcd-certfile', etcdCertfile),
          privateKey: readFlagFile('etcd-keyfile', etcdKeyfile),
        };
  return { rootCertificate: readFlagFile('etcd-cafile', etcdCafile), ...own };
}

function memberOf(endpoint: string, client: Etcd3, timeoutMs: number): Member {
  const { maintenance, cluster } = client;
  const inTime = (): { readonly deadline: Date } => ({ deadline: new Date(Date.now() + timeoutMs) });
  const asked = async <T>(call: () => Promise<T>): Promise<T> => {
    try {
      return await call();
    } catch (error) {
      throw explained(endpoint, error);
    }
  };
  return {
    endpoint,
    status: async () =>
      asked(async () => {
        const { header, ...status } = await maintenance.status(inTime());
        return {
          memberId: header.member_id,
          leaderId: status.leader,
          version: status.version,
          revision: Number(header.revision),
          dbSizeBytes: Number(status.dbSize),
          dbSizeInUseBytes: Number(status.dbSizeInUse),
          raftTerm: Number(status.raftTerm),
          raftIndex: Number(status.raftIndex),
          raftAppliedIndex: Number(status.raftAppliedIndex),
          isLearner: status.isLearner,
          errors: status.errors,
        };
      }),
    members: async () =>
      asked(async () =>
        (await cluster.memberList({}, inTime())).members.map(({ ID: id, name, clientURLs }) => ({
          id,
          name,
          clientUrls: clientURLs,
        })),
      ),
    alarms: async () =>
      asked(async () =>
        (await maintenance.alarm({ action: 'Get' }, inTime())).alarms.map(({ memberID, alarm }) => ({
          memberId: memberID,
          kind: alarm,
        })),
      ),
    disarm: async ({ memberId, kind }) => {
      await asked(async () =>
        maintenance.alarm({ action: 'Deactivate', memberID: memberId, alarm: kind }, inTime()),
      );
    },
    defragment: async () => {
      await asked(async () => maintenance.defragment(inTime()));
    },
    async *snapshot() {
      try {
        for await (const { blob, remaining_bytes: remaining } of piecesOf(
          await maintenance.snapshot(inTime()),
        )) {
          yield { bytes: blob, remaining: Number(remaining) };
        }
      } catch (error) {
        throw explained(endpoint, error);
      }
    },
  };
}

/** The library's stream is one of Node's, and its type says less. */
function piecesOf<T>(stream: IResponseStream<T>): AsyncIterable<T> {
  return stream as unknown as AsyncIterable<T>;
}

function explained(endpoint: string, error: unknown): Error {
  const why =
    error instanceof Error ? error.message.replace(/^\d+ [A-Z_]+: /, '').split('\n')[0] : String(error);
  return new Error(
    `${endpoint} does not answer as it should (${String(why)}); check --etcd-servers, the certificates, and that the member runs`,
    { cause: error },
  );
}
