import type { Endpoints } from '../../../shared/api/types/core-v1';
import type { RandomInt } from '../../../shared/meta/generate-name';
import { GROUP } from '../../../shared/names';
import type { ClusterReader } from '../admission/cluster-reader';
import type { ResourceName } from '../admission/plugin';
import { SERVICES } from '../admission/plugins/resources';
import { targetOf } from '../admission/webhooks/address';
import type { AggregatedService } from './aggregated-services';

/** Where a server behind this one is reached. */
export interface ServicePlace {
  readonly host: string;
  readonly port: number;
  /** The name that its certificate is for. */
  readonly serverName: string;
}

export const ENDPOINTS: ResourceName<Endpoints> = { group: GROUP.core, resource: 'endpoints' };

export interface PlaceRules {
  /** Ready addresses of Endpoints instead of the address of the cluster. */
  readonly byEndpoints: boolean;
  readonly randomInt: RandomInt;
}

const WITH_ENDPOINTS: ReadonlySet<string> = new Set(['ClusterIP', 'LoadBalancer', 'NodePort']);

/** Throws an Error that says why there is nowhere to go. */
export function placeOf(
  { service: { namespace, name, port } }: AggregatedService,
  cluster: Pick<ClusterReader, 'get'>,
  { byEndpoints, randomInt }: PlaceRules,
): ServicePlace {
  const serverName = `${name}.${namespace}.svc`;
  if (!byEndpoints) {
    const { connectTo, host } = targetOf({ namespace, name, port, path: '' }, cluster);
    return { host: connectTo?.host ?? host, port: connectTo?.port ?? port, serverName };
  }
  const found = cluster.get(SERVICES, name, namespace);
  if (found === undefined) throw new Error(`service ${JSON.stringify(name)} not found`);
  const { type = '' } = found.spec;
  if (!WITH_ENDPOINTS.has(type)) throw new Error(`unsupported service type ${JSON.stringify(type)}`);
  const servicePort = found.spec.ports?.find((each) => each.port === port);
  if (servicePort === undefined) {
    throw new Error(`no service port ${String(port)} found for service ${JSON.stringify(name)}`);
  }
  const portName = servicePort.name ?? '';
  const { subsets = [] } = cluster.get(ENDPOINTS, name, namespace) ?? { subsets: [] };
  const places = subsets.flatMap(({ addresses = [], ports = [] }) => {
    const at = ports.find((each) => (each.name ?? '') === portName);
    return at === undefined ? [] : addresses.map(({ ip }) => ({ host: ip, port: at.port, serverName }));
  });
  const place = places.length === 0 ? undefined : places[randomInt(places.length)];
  if (place === undefined) throw new Error(`no endpoints available for service ${JSON.stringify(name)}`);
  return place;
}
