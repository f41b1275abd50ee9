import type { ApiObject } from '../object/object';
import { LABEL } from '../names';
import type { Conversion } from './conversion';
import type { ReadonlyJson } from '../object/json';
import { changeList, objectAt, without } from '../object/json';

/**
 * discovery/v1beta1 has the topology of an endpoint in a map; v1 has fields for zone and node and keeps the
 * rest as `deprecatedTopology`. A host name that is not the node's name stays in the map.
 */
export const ENDPOINT_SLICE: Conversion = {
  toHub: (object) => changeList(object, 'endpoints', withoutTopology) as ApiObject,
  fromHub: (object) => changeList(object, 'endpoints', withTopology) as ApiObject,
};

function withoutTopology(endpoint: ReadonlyJson): ReadonlyJson {
  const topology = objectAt(endpoint, 'topology');
  if (topology === undefined) return without(endpoint, 'topology');
  const zone = topology[LABEL.topologyZone];
  const isNode = endpoint['nodeName'] !== undefined && topology[LABEL.hostname] === endpoint['nodeName'];
  const rest = without(topology, LABEL.topologyZone, ...(isNode ? [LABEL.hostname] : []));
  return {
    ...without(endpoint, 'topology'),
    ...(Object.keys(rest).length === 0 ? {} : { deprecatedTopology: rest }),
    ...(zone === undefined ? {} : { zone }),
  };
}

function withTopology(endpoint: ReadonlyJson): ReadonlyJson {
  const { zone, nodeName } = endpoint;
  const kept = objectAt(endpoint, 'deprecatedTopology');
  const rest = without(endpoint, 'deprecatedTopology', 'zone');
  if (kept === undefined && zone === undefined && nodeName === undefined) return rest;
  const host = kept?.[LABEL.hostname] ?? '';
  return {
    ...rest,
    topology: {
      ...kept,
      ...(zone === undefined ? {} : { [LABEL.topologyZone]: zone }),
      ...(nodeName === undefined || host !== '' ? {} : { [LABEL.hostname]: nodeName }),
    },
  };
}
