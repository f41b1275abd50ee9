import type { StatusResponse } from './proto';

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
  /** Why this version should not be used, or undefined. */
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

const OLDEST_SUPPORTED = 3.4;

/** A warning for versions that are not supported. */
export function warningFor(version: string): string | undefined {
  const [major = '', minor = ''] = version.split('.');
  return Number(`${major}.${minor}`) < OLDEST_SUPPORTED
    ? 'this etcd is older than 3.4, the oldest that is supported'
    : undefined;
}
