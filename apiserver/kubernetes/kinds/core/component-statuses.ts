import type { ComponentStatus } from '../../../../shared/api/types/core-v1';
import { withTimeLimit } from '../../../../shared/concurrency/time-limit';
import { ownKeyMap } from '../../../../shared/own-key-map';
import type { Component, VirtualResource } from '../../../engine/registry/operation';
import { NAME } from '../columns/common';
import { derivedTableOf } from '../columns/table';
import type { Kind } from '../kind';

/** The time limit of one health check. */
const CHECK_TIMEOUT_MS = 5_000;

/** The health of the backends of this server, checked for each request. */
const componentStatusResource: VirtualResource = {
  list: ({ services }, signal) => Promise.all(services.components.map((each) => statusOf(each, signal))),
};

async function statusOf({ name, check }: Component, signal: AbortSignal): Promise<ComponentStatus> {
  const problem = await problemOf(check, signal);
  const condition =
    problem === undefined
      ? { type: 'Healthy', status: 'True', message: '{"health":"true"}' }
      : { type: 'Healthy', status: 'False', message: problem, error: problem };
  return { kind: 'ComponentStatus', apiVersion: 'v1', metadata: { name }, conditions: [condition] };
}

async function problemOf(check: Component['check'], signal: AbortSignal): Promise<string | undefined> {
  try {
    await withTimeLimit(signal, CHECK_TIMEOUT_MS, check);
    return undefined;
  } catch (error) {
    signal.throwIfAborted();
    return error instanceof Error ? error.message : String(error);
  }
}

const HEALTH_WORDS = ownKeyMap<string>({ True: 'Healthy' });

const componentStatusTable = derivedTableOf(
  ({ conditions = [] }: ComponentStatus) => conditions.find(({ type }) => type === 'Healthy'),
  [
    NAME,
    {
      name: 'Status',
      cell: (_status, healthy) =>
        healthy === undefined ? 'Unknown' : (HEALTH_WORDS.get(healthy.status) ?? 'Unhealthy'),
    },
    { name: 'Message', cell: (_status, healthy) => healthy?.message ?? '' },
    { name: 'Error', cell: (_status, healthy) => healthy?.error ?? '' },
  ],
);

export const componentStatuses: Kind = { virtual: componentStatusResource, table: componentStatusTable };
