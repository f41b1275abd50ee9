import type { EndpointAddress, Endpoints, EndpointSubset } from '../../../../shared/api/types/core-v1';
import type { FieldError } from '../../../../shared/errors/field-error';
import { required } from '../../../../shared/errors/field-error';
import { dns1123LabelProblems, dns1123SubdomainProblems } from '../../../../shared/meta/dns-names';
import { isInForce } from '../../../../shared/api/changes';
import { deepEqual } from '../../../../shared/object/clone';
import type { KindSettings, Strategy } from '../../../engine/registry/strategy';
import { AGE, NAME } from '../columns/common';
import { NONE, shortList } from '../columns/format';
import { tableOf } from '../columns/table';
import type { Kind } from '../kind';
import { reachableAddress } from '../rules/addresses';
import { forEachItem, invalidForEach, optionalForm } from '../rules/primitives';
import { legacyIp } from '../rules/strict-addresses';
import { validateServicePort } from './services/service-ports';

const endpointsRules: Pick<Strategy<Endpoints>, 'validate'> = {
  validate: ({ subsets = [] }, { settings }) =>
    forEachItem(subsets, 'subsets', (subset, path) => validateSubset(subset, path, settings)),
};

function validateSubset(subset: EndpointSubset, path: string, settings: KindSettings): FieldError[] {
  const { addresses: ready = [], notReadyAddresses: notReady = [], ports = [] } = subset;
  return [
    ...(ready.length + notReady.length === 0
      ? [required(path, 'must specify `addresses` or `notReadyAddresses`')]
      : []),
    ...forEachItem(ready, `${path}.addresses`, (each, at) => validateAddress(each, at, settings)),
    ...forEachItem(notReady, `${path}.notReadyAddresses`, (each, at) => validateAddress(each, at, settings)),
    ...forEachItem(ports, `${path}.ports`, (port, portPath) =>
      validateServicePort(port, portPath, { needsName: ports.length > 1 }),
    ),
  ];
}

function validateAddress(
  { ip, hostname, nodeName: node }: EndpointAddress,
  path: string,
  settings: KindSettings,
): FieldError[] {
  return [
    ...legacyIp(ip, `${path}.ip`, settings),
    ...optionalForm(hostname, `${path}.hostname`, dns1123LabelProblems),
    ...(node === undefined ? [] : invalidForEach(dns1123SubdomainProblems(node), node, `${path}.nodeName`)),
    ...reachableAddress(ip, `${path}.ip`),
  ];
}

const ENDPOINTS_SHOWN_MAX = 3;

const endpointsTable = tableOf<Endpoints>([NAME, { name: 'Endpoints', cell: endpointsText }, AGE]);

function endpointsText({ subsets = [] }: Endpoints): string {
  if (subsets.length === 0) return NONE;
  const all = subsets.flatMap(({ addresses = [], ports = [] }) => {
    const ips = addresses.map(({ ip }) => ip);
    // A headless service may have no ports at all.
    return ports.length === 0 ? ips : ports.flatMap(({ port }) => ips.map((ip) => hostPort(ip, port)));
  });
  return shortList(all, ENDPOINTS_SHOWN_MAX);
}

function hostPort(ip: string, port: number): string {
  return ip.includes(':') ? `[${ip}]:${String(port)}` : `${ip}:${String(port)}`;
}

export const endpoints: Kind<Endpoints> = {
  strategy: {
    createsOnUpdate: true,
    compat: { keyInErrors: 'services/endpoints' },
    ...endpointsRules,
    ratchets: (faults, previous, { sent }) => {
      const keepsSubsets =
        isInForce('canonicalEndpoints') &&
        previous !== undefined &&
        deepEqual(previous.subsets, (sent as Endpoints | undefined)?.subsets);
      return keepsSubsets ? faults.filter(({ field }) => !field.startsWith('subsets[')) : faults;
    },
  },
  table: endpointsTable,
};
