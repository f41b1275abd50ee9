import { GROUP } from '../../shared/names';
import { RESOURCES } from '../../shared/api/resources';
import { messageType } from '../../shared/schema/types';
import type { ResourceDefinition } from './resource';
import type { Strategy } from './strategy';
import { core } from './strategies/core';
import { apps, batch, coordination } from './strategies/workloads';

/** A group version that is served, with the behaviour of its kinds and the subresources that work. */
interface ServedGroupVersion {
  readonly group: string;
  readonly version: string;
  readonly strategies: Readonly<Record<string, Strategy>>;
}

/** Everything this server serves, in discovery's order. A group version that is not in this list answers 404. */
const SERVED: readonly ServedGroupVersion[] = [
  { group: GROUP.core, version: 'v1', strategies: core },
  { group: GROUP.apps, version: 'v1', strategies: apps },
  { group: GROUP.batch, version: 'v1', strategies: batch },
  { group: GROUP.coordination, version: 'v1', strategies: coordination },
];

/** Resources that are operations rather than stored objects; they come with the behaviour they stand for. */
const NOT_STORED: ReadonlySet<string> = new Set(['bindings', 'componentstatuses']);

const STORED_SUBRESOURCES: readonly string[] = ['status', 'finalize'];

/** The definitions of all served resources, from the tables. */
export function servedDefinitions(): readonly ResourceDefinition[] {
  return SERVED.flatMap(({ group, version, strategies }) =>
    RESOURCES.filter(
      (row) => row.group === group && row.version === version && !NOT_STORED.has(row.resource),
    ).map((row) => ({
      row,
      type: messageType(row.schema),
      strategy: strategies[row.resource] ?? {},
      servedSubresources: STORED_SUBRESOURCES,
    })),
  );
}
