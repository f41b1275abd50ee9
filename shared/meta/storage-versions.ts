import type {
  ServerStorageVersion,
  StorageVersion,
  StorageVersionCondition,
  StorageVersionStatus,
} from '../api/types/apiserverinternal-v1alpha1';
import { formatTime } from './time';

/** StorageVersion objects: every server stores a resource in one version, and all may agree on a common one. */

const CONDITION = 'AllEncodingVersionsEqual';

/** Returns the StorageVersion with these servers (SetCommonEncodingVersion of v1.21). */
export function withServers(
  { status, ...rest }: StorageVersion,
  servers: readonly ServerStorageVersion[],
  nowMs: number,
): StorageVersion {
  const { commonEncodingVersion: before, conditions = [] } = status ?? {};
  const versions = new Set(servers.map(({ encodingVersion }) => encodingVersion));
  const [common] = versions.size === 1 ? versions : [];
  const hasMoved = before !== undefined && common !== undefined && before !== common;
  const next: StorageVersionStatus = {
    storageVersions: servers,
    ...(common === undefined ? {} : { commonEncodingVersion: common }),
    conditions: withCondition(conditions, conditionOf(common !== undefined, nowMs), hasMoved),
  };
  return { ...rest, status: next };
}

/** Replaces or appends this server in the servers of a StorageVersion. */
export function withServer(
  { status }: StorageVersion,
  server: ServerStorageVersion,
): readonly ServerStorageVersion[] {
  const servers = status?.storageVersions ?? [];
  const isThere = servers.some(({ apiServerID }) => apiServerID === server.apiServerID);
  if (!isThere) return [...servers, server];
  return servers.map((each) => (each.apiServerID === server.apiServerID ? server : each));
}

function conditionOf(isCommon: boolean, nowMs: number): StorageVersionCondition {
  return {
    type: CONDITION,
    status: isCommon ? 'True' : 'False',
    lastTransitionTime: formatTime(nowMs),
    reason: isCommon ? 'CommonEncodingVersionSet' : 'CommonEncodingVersionUnset',
    message: isCommon ? 'Common encoding version set' : 'Common encoding version unset',
  };
}

/**
 * Keeps the time of the former condition unless its status changes, or with `hasMoved` the common version
 * changes.
 */
function withCondition(
  conditions: readonly StorageVersionCondition[],
  condition: StorageVersionCondition,
  hasMoved: boolean,
): readonly StorageVersionCondition[] {
  const old = conditions.find(({ type }) => type === condition.type);
  if (old === undefined) return [...conditions, condition];
  const isAsBefore = old.status === condition.status && !hasMoved;
  const { lastTransitionTime } = isAsBefore ? old : condition;
  const next = { ...condition, ...(lastTransitionTime === undefined ? {} : { lastTransitionTime }) };
  return conditions.map((each) => (each === old ? next : each));
}
