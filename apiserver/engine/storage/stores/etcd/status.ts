import type { StatusResponse } from './proto';
import { ownKeyMap } from '../../../../../shared/own-key-map';

/** One etcd member's word about itself. Ids are hexadecimal, as etcd's own tools print them. */
export interface EtcdStatus {
  readonly version: string;
  readonly clusterId: string;
  readonly memberId: string;
  readonly leaderId: string;
  readonly isLearner: boolean;
  readonly revision: number;
  readonly dbSizeBytes: number;
  readonly dbSizeInUseBytes: number;
  /** Alarms and other troubles, in etcd's words. */
  readonly errors: readonly string[];
  /** What is wrong with this version, or undefined. */
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

/** Tells of versions whose progress notifications are unsafe; orch does not use them, other clients of the same etcd may. */
export function warningFor(version: string): string | undefined {
  const [major = '', minor = '', patch = ''] = version.split('.');
  const line = `${major}.${minor}`;
  if (Number(line) < OLDEST_LINE) return 'this etcd is older than 3.4, the oldest that is supported';
  const fixedPatch = FIXED_PATCH.get(line);
  if (fixedPatch === undefined || Number.parseInt(patch, 10) >= fixedPatch) return undefined;
  return (
    "this etcd's progress notifications can overtake events, and later releases mend more: " +
    `upgrade to ${line}.${String(fixedPatch)} or newer (orch itself does not use them)`
  );
}
