import { LABEL } from '../../../shared/names';
import { deepEqual } from '../../../shared/object/clone';
import { dns1123SubdomainProblems } from '../../../shared/meta/dns-names';
import type { ApiObject } from '../../../shared/object/object';
import type { Strategy, WriteInfo } from '../../registry/strategy';
import type { Json } from '../../../shared/object/accessors';
import { optionalRecord, record, records, text } from '../../../shared/object/accessors';
import { endpointSliceRules } from './endpoint-slices-rules';

/**
 * A slice of endpoints. Hints, and the conditions that tell of terminating endpoints, belong to features that are off in v1.21: they are
 * dropped unless the slice has had some. The topology of v1beta1 can be read in v1 and not be written.
 */
export const endpointSlices: Strategy = {
  tracksGeneration: true,
  ...endpointSliceRules,
  prepareForCreate: (object, info) =>
    withEndpoints(object, (endpoints) => withoutTopology(endpoints.map(withoutHints).map(kept), [], info)),
  prepareForUpdate(next, previous, info) {
    const before = records(previous['endpoints']);
    const hadHints = before.some(({ hints }) => optionalRecord(hints) !== undefined);
    const hadStates = before.some((endpoint) => STATES.some((state) => hasState(endpoint, state)));
    return withEndpoints(next, (endpoints) => {
      const allowed = hadHints ? endpoints : endpoints.map(withoutHints);
      const settled = hadStates ? allowed : allowed.map(kept);
      return deepEqual(settled, before) ? settled : withoutTopology(settled, before, info);
    });
  },
};

type Endpoints = readonly Json[];

function withEndpoints(object: ApiObject, change: (endpoints: Endpoints) => Endpoints): ApiObject {
  if (!Array.isArray(object['endpoints'])) return object;
  return { ...object, endpoints: change(records(object['endpoints'])) };
}

function withoutHints({ hints: _hints, ...endpoint }: Json): Json {
  return endpoint;
}

const STATES = ['serving', 'terminating'];

function hasState(endpoint: Json, state: string): boolean {
  return typeof record(endpoint['conditions'])[state] === 'boolean';
}

function kept(endpoint: Json): Json {
  const { serving: _serving, terminating: _terminating, ...conditions } = record(endpoint['conditions']);
  return optionalRecord(endpoint['conditions']) === undefined ? endpoint : { ...endpoint, conditions };
}

/** Where the map named the node before, and the endpoint does not name it otherwise, the name moves to its own field. */
function withoutTopology(endpoints: Endpoints, before: Endpoints, { via }: WriteInfo): Endpoints {
  if (via.version === 'v1beta1') return endpoints;
  const known = new Set(before.map(hostOf));
  return endpoints.map((endpoint) => {
    const { deprecatedTopology: _topology, ...rest } = endpoint;
    const host = hostOf(endpoint);
    const isNode = host !== '' && known.has(host) && dns1123SubdomainProblems(host).length === 0;
    return isNode && rest['nodeName'] === undefined ? { ...rest, nodeName: host } : rest;
  });
}

function hostOf(endpoint: Json): string {
  return text(record(endpoint['deprecatedTopology'])[LABEL.hostname]);
}
