import type { StatusResponse } from './proto';
import { ownKeyMap } from '../../../../../shared/own-key-map';

/** The status of one etcd member. Ids are hexadecimal, as etcd's own tools print them. */
export interface EtcdStatus {
  readonly version: string;
  readonly clusterId: string;
  readonly memberId: string;
  readonly leaderId: string;
  readonly isLearner: boolean;
  readonly revision: number;
  readonly dbSizeBytes: number;
  readonly dbSizeInUseBytes: number;
  /** Alarms and other problems, as etcd reports them. */
  readonly errors: readonly string[];
  /** A known defect of this version, or undefined. */
  readonly warning: string | undefined;
}

export function toStatus(answer: StatusResponse): EtcdStatus {
  return {
    version: answer.version,
    clusterId: answer.header.clusterId,
    memberId: answer.header.memberId,
    leaderId: answer.leader,
    isLearner: answer.isLearner,
    revision: answer.header.revision,
    dbSizeBytes: answer.dbSizeBytes,
    dbSizeInUseBytes: answer.dbSizeInUseBytes,
    errors: answer.errors,
    warning: warningFor(answer.version),
  };
}

/** The first release of each line without the defect. */
const FIXED_PATCH = ownKeyMap<number>({ '3.4': 25, '3.5': 8 });
const OLDEST_LINE = 3.4;

/** A warning for versions with unsafe progress notifications. orch does not use them, but other clients of the same etcd may. */
export function warningFor(version: string): string | undefined {
  const [major = '', minor = '', patch = ''] = version.split('.');
  const line = `${major}.${minor}`;
  if (Number(line) < OLDEST_LINE) return 'this etcd is older than 3.4, the oldest that is supported';
  const fixedPatch = FIXED_PATCH.get(line);
  if (fixedPatch === undefined || Number.parseInt(patch, 10) >= fixedPatch) return undefined;
  return (
    "this etcd's progress notifications can overtake events, and later releases fix more: " +
    `upgrade to ${line}.${String(fixedPatch)} or newer (orch itself does not use them)`
  );
}
