import type { ServiceCIDR } from '../../../shared/api/types/networking-v1';
import type { Log } from '../../../shared/log/log';
import { formatTime } from '../../../shared/meta/time';
import { API_SERVICE_NAME } from '../../../shared/names';
import { deepEqual } from '../../../shared/object/clone';
import type { ApiObject } from '../../../shared/object/object';
import { updateObject } from '../../engine/registry/update';
import type { Endpoint } from '../../engine/registry/resource';
import type { WriteContext } from '../../engine/registry/write-context';
import type { ClusterReader } from '../cluster/cluster-reader';
import { SERVICE_CIDRS } from '../cluster/resources';
import { createMissing } from './create-missing';
import { ownObject } from './own-object';
import { ownRequest } from './own-request';

const MANAGER = `${API_SERVICE_NAME}-service-cidr-controller`;
const READY = 'Ready';

export interface DefaultCidrOptions {
  readonly endpoint: Endpoint;
  /** The networks of `--service-cluster-ip-range`. */
  readonly cidrs: readonly string[];
  readonly newReading: () => Pick<ClusterReader, 'get' | 'freshen'>;
  readonly log: Log;
}

/**
 * Creates a function that ensures the default ServiceCIDR, with the networks of the flags. It gets a second network when the flag has one,
 * and the condition `Ready` if it has no such condition (upstream: `pkg/controlplane/controller/defaultservicecidr`).
 */
export function createDefaultCidr(
  options: DefaultCidrOptions,
): (store: WriteContext, signal: AbortSignal) => Promise<void> {
  const { endpoint, cidrs, newReading, log } = options;
  const name = API_SERVICE_NAME;
  let reported = '';
  const report = (message: string, found: readonly string[]): void => {
    if (reported === message) return;
    reported = message;
    log.warn({ serviceCIDR: name, found, flags: cidrs }, message);
  };
  return async (store, signal) => {
    const reading = newReading();
    let current = reading.get(SERVICE_CIDRS, name);
    if (current === undefined) {
      await createMissing(store, endpoint, { metadata: { name }, spec: { cidrs } }, signal);
      await reading.freshen(signal);
      current = reading.get(SERVICE_CIDRS, name);
    }
    const { deletionTimestamp = null } = current?.metadata ?? {};
    if (current === undefined || deletionTimestamp !== null) return;
    const found = current.spec.cidrs ?? [];
    if (cidrs.length > found.length && found[0] === cidrs[0]) {
      await change(
        { store, endpoint, part: '' },
        (each) => ({ ...each, spec: { ...each.spec, cidrs } }),
        signal,
      );
    } else if (!deepEqual(found, cidrs)) {
      report('the default ServiceCIDR does not match the flags', found);
      return;
    }
    const state = current.status?.conditions?.find(({ type }) => type === READY)?.status;
    if (state === 'False') report('the default ServiceCIDR is not ready', found);
    if (state === 'True' || state === 'False') return;
    await change({ store, endpoint, part: 'status' }, withReady, signal);
    // Allocation reads the cache.
    await reading.freshen(signal);
  };
}

function withReady(cidr: ServiceCIDR): ServiceCIDR {
  const others = (cidr.status?.conditions ?? []).filter(({ type }) => type !== READY);
  const ready = {
    type: READY,
    status: 'True',
    lastTransitionTime: formatTime(Date.now()),
    reason: '',
    message: 'Kubernetes default Service CIDR is ready',
  };
  return { ...cidr, status: { ...cidr.status, conditions: [...others, ready] } };
}

async function change(
  {
    store,
    endpoint,
    part,
  }: { readonly store: WriteContext; readonly endpoint: Endpoint; readonly part: string },
  edit: (cidr: ServiceCIDR) => ServiceCIDR,
  signal: AbortSignal,
): Promise<void> {
  const request = { ...ownRequest(endpoint, { name: API_SERVICE_NAME }, MANAGER), subresource: part };
  const update = {
    change: (current: ApiObject | undefined) => ownObject(endpoint, edit(current as ServiceCIDR)),
    options: { creates: 'never' as const },
  };
  await updateObject(store, request, update, signal);
}
