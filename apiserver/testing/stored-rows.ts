import type { ResourceRow } from '../../shared/api/resources';
import { RESOURCES } from '../../shared/api/resources';
import { apiVersionOf } from '../../shared/object/object';
import type { Endpoint } from '../engine/registry/resource';
import type { InProcessApi } from './in-process-api';

/** Every row of the tables with a stored object. The others are operations. */
export const STORED_ROWS = RESOURCES.filter(
  ({ verbs }) => verbs.includes('list') && verbs.includes('create'),
);

/** The options of a server with all kinds. */
export const ALL_KINDS = {
  runtimeConfig: new Map([['api/all', true]]),
  kindSettings: { allowPrivileged: false, ephemeralContainers: true },
  definitionsLive: false,
};

/** The endpoint of a schema (`core/v1.Pod`). */
export function endpointOf(api: InProcessApi, schema: string): Endpoint {
  const row = RESOURCES.find((each) => each.schema === schema);
  const endpoint =
    row === undefined ? undefined : api.plane.registry().endpoint(row.group, row.version, row.resource);
  if (endpoint === undefined) throw new Error(`${schema} is not served`);
  return endpoint;
}

/** The path of the collection, in the namespace `default` if namespaced. */
export function collectionOf(row: ResourceRow): string {
  const prefix = row.group === '' ? '/api' : '/apis';
  const place = row.namespaced ? '/namespaces/default' : '';
  return `${prefix}/${apiVersionOf(row)}${place}/${row.resource}`;
}
