import { withNextGeneration } from '../../../../shared/meta/generation';
import type { Endpoint, EndpointSlice } from '../../../../shared/api/types/discovery-v1';
import { LABEL } from '../../../../shared/names';
import { deepEqual } from '../../../../shared/object/clone';
import { dns1123SubdomainProblems } from '../../../../shared/meta/dns-names';
import type { Strategy, WriteInfo } from '../../../engine/registry/strategy';
import { isOn } from '../field-gates';
import { endpointSliceRules } from './endpoint-slices-rules';

/**
 * A slice of endpoints. Hints, and the conditions that tell of terminating endpoints, belong to features that are off by default: they are
 * dropped unless the slice has had some. The topology of v1beta1 can be read in v1 and not be written.
 */
export const endpointSlices: Strategy<EndpointSlice> = {
  tracksGeneration: true,
  ...endpointSliceRules,
  prepareForCreate: (object, info) =>
    withEndpoints(object, (endpoints) => {
      const settled = keepsHints(info) ? endpoints : endpoints.map(withoutHints);
      return withoutTopology(keepsStates(info) ? settled : settled.map(kept), [], info);
    }),
  prepareForUpdate(next, previous, info) {
    const before = previous.endpoints ?? [];
    const hadHints = keepsHints(info) || before.some(({ hints }) => hints !== undefined);
    const hadStates =
      keepsStates(info) ||
      before.some(({ conditions }) => STATES.some((state) => conditions[state] !== undefined));
    return withEndpoints(withGeneration(next, previous), (endpoints) => {
      const allowed = hadHints ? endpoints : endpoints.map(withoutHints);
      const settled = hadStates ? allowed : allowed.map(kept);
      return deepEqual(settled, before) ? settled : withoutTopology(settled, before, info);
    });
  },
};

/** Labels count as desired state here, and so does what is dropped. */
function withGeneration(next: EndpointSlice, previous: EndpointSlice): EndpointSlice {
  const { labels } = next.metadata;
  const isSame =
    deepEqual(labels, previous.metadata.labels) &&
    deepEqual({ ...next, metadata: {} }, { ...previous, metadata: {} });
  return isSame ? next : withNextGeneration(next, previous);
}

function keepsHints({ settings }: WriteInfo): boolean {
  return isOn(settings, 'TopologyAwareHints');
}

function keepsStates({ settings }: WriteInfo): boolean {
  return isOn(settings, 'EndpointSliceTerminatingCondition');
}

type Endpoints = readonly Endpoint[];

function withEndpoints(slice: EndpointSlice, change: (endpoints: Endpoints) => Endpoints): EndpointSlice {
  return slice.endpoints === null ? slice : { ...slice, endpoints: change(slice.endpoints) };
}

function withoutHints({ hints: _hints, ...endpoint }: Endpoint): Endpoint {
  return endpoint;
}

const STATES = ['serving', 'terminating'] as const;

function kept(endpoint: Endpoint): Endpoint {
  const { serving: _serving, terminating: _terminating, ...conditions } = endpoint.conditions;
  return { ...endpoint, conditions };
}

/** Where the map named the node before, and the endpoint does not name it otherwise, the name moves to its own field. */
function withoutTopology(endpoints: Endpoints, before: Endpoints, { via }: WriteInfo): Endpoints {
  if (via.version === 'v1beta1') return endpoints;
  const known = new Set(before.map(hostOf));
  return endpoints.map((endpoint) => {
    const { deprecatedTopology: _topology, ...rest } = endpoint;
    const host = hostOf(endpoint);
    const isNode = host !== '' && known.has(host) && dns1123SubdomainProblems(host).length === 0;
    return isNode && rest.nodeName === undefined ? { ...rest, nodeName: host } : rest;
  });
}

function hostOf({ deprecatedTopology }: Endpoint): string {
  return deprecatedTopology?.[LABEL.hostname] ?? '';
}
