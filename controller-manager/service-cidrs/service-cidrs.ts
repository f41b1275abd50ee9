import { parse, parseCIDR } from 'ipaddr.js';
import { RESOURCE } from '../../shared/api/resource-names';
import type { Condition } from '../../shared/api/types/meta-v1';
import type { IPAddress, ServiceCIDR } from '../../shared/api/types/networking-v1';
import { hasCode } from '../../shared/client/status';
import type { Requeue } from '../../shared/concurrency/work-loop';
import { formatTime } from '../../shared/meta/time';
import { ADDRESS_ALLOCATOR, FINALIZER, LABEL } from '../../shared/names';
import type { ControllerContext } from '../runtime/controller';
import { runInformedLoop } from '../runtime/informed-loop';
import { withoutFinalizer } from '../runtime/live-object';
import { changeFinalizers, isLeaving, withFinalizer } from '../runtime/protection';

const WORKERS = 5;
/** How long servers may take to see that a range is being deleted; until then they may allocate from it. */
const DELETION_GRACE_MS = 10_000;

const READY = { status: 'True', reason: '', message: 'Kubernetes Service CIDR is ready' };
const TERMINATING = {
  status: 'False',
  reason: 'Terminating',
  message:
    'There are still IPAddresses referencing the ServiceCIDR, please remove them or create a new ServiceCIDR',
};

/**
 * Protects ServiceCIDRs with a finalizer and reports them as ready. One that is being deleted stays until each of its addresses in use is
 * in another range as well (upstream: `pkg/controller/servicecidrs`).
 */
export async function runServiceCidrs(
  { client, log, informers, createQueue, clock }: ControllerContext,
  signal: AbortSignal,
  { graceMs = DELETION_GRACE_MS }: { readonly graceMs?: number } = {},
): Promise<void> {
  const queue = createQueue();
  const cidrs = informers.of(RESOURCE.servicecidrs);
  const addresses = informers.of(RESOURCE.ipaddresses);
  const nameOf = ({ metadata: { name = '' } }: ServiceCIDR): string => name;
  const all = (): readonly ServiceCIDR[] => cidrs.store.list();
  const enqueueAll = (): void => {
    for (const each of all()) queue.add(nameOf(each));
  };
  cidrs.addHandler({
    // Another range may hold the addresses of one that is being deleted.
    onAdd: enqueueAll,
    onUpdate: (_before, after) => queue.add(nameOf(after)),
    onDelete: enqueueAll,
  });
  const enqueueRanges = (address: IPAddress): void => {
    if (!isOfService(address)) return;
    for (const each of all()) {
      if (isLeaving(each) && contains(each, address.metadata.name ?? '')) queue.add(nameOf(each));
    }
  };
  addresses.addHandler({ onAdd: enqueueRanges, onDelete: enqueueRanges });

  const reconcile = async (name: string, stop: AbortSignal): Promise<Requeue | undefined> => {
    const cidr = cidrs.store.get(name);
    if (cidr === undefined) return undefined;
    const target = { resource: RESOURCE.servicecidrs, known: cidr };
    if (!isLeaving(cidr)) {
      await changeFinalizers(client, { ...target, change: withFinalizer(FINALIZER.serviceCidr) }, stop);
      await report(cidr, READY, stop);
      return undefined;
    }
    if (isNeeded(cidr, { cidrs: all(), addresses: addresses.store.list() })) {
      await report(cidr, TERMINATING, stop);
      return undefined;
    }
    const leftMs = Date.parse(cidr.metadata.deletionTimestamp ?? '') + graceMs - clock.now();
    if (leftMs > 0) return { requeueAfterMs: leftMs };
    await changeFinalizers(client, { ...target, change: withoutFinalizer(FINALIZER.serviceCidr) }, stop);
    return undefined;
  };

  /** Sets the condition `Ready`, unless it says the same. */
  const report = async (
    { metadata: { name = '' } }: ServiceCIDR,
    wanted: Pick<Condition, 'status' | 'reason' | 'message'>,
    stop: AbortSignal,
  ): Promise<void> => {
    const isSame = ({ type, status, reason, message }: Condition): boolean =>
      type === 'Ready' && status === wanted.status && reason === wanted.reason && message === wanted.message;
    if (cidrs.store.get(name)?.status?.conditions?.some(isSame) === true) return;
    try {
      const current = await client.get<ServiceCIDR>(RESOURCE.servicecidrs, { name }, { signal: stop });
      const { conditions = [] } = current.status ?? {};
      if (conditions.some(isSame)) return;
      const others = conditions.filter(({ type }) => type !== 'Ready');
      const ready = { type: 'Ready', ...wanted, lastTransitionTime: formatTime(clock.now()) };
      const next = { ...current, status: { ...current.status, conditions: [...others, ready] } };
      await client.updateStatus(RESOURCE.servicecidrs, next, { signal: stop });
    } catch (error) {
      if (!hasCode(error, 404)) throw error;
    }
  };

  await runInformedLoop({ informers: [cidrs, addresses], queue, workers: WORKERS, log, reconcile }, signal);
}

function isOfService({ metadata: { labels } }: IPAddress): boolean {
  return labels?.[LABEL.addressManager] === ADDRESS_ALLOCATOR;
}

/** Whether an address in use would be in no range without this one. */
function isNeeded(
  cidr: ServiceCIDR,
  known: { readonly cidrs: readonly ServiceCIDR[]; readonly addresses: Iterable<IPAddress> },
): boolean {
  const others = known.cidrs.filter(({ metadata: { uid } }) => uid !== cidr.metadata.uid);
  const networks = cidr.spec.cidrs ?? [];
  const isCovered = networks.every((network) => others.some((each) => containsNetwork(each, network)));
  if (isCovered) return false;
  for (const address of known.addresses) {
    const { name = '' } = address.metadata;
    if (isOfService(address) && contains(cidr, name) && !others.some((each) => contains(each, name)))
      return true;
  }
  return false;
}

function contains({ spec: { cidrs = [] } }: ServiceCIDR, address: string): boolean {
  return cidrs.some((cidr) => isWithin(address, cidr));
}

function containsNetwork({ spec: { cidrs = [] } }: ServiceCIDR, network: string): boolean {
  const [address = '', bits = ''] = network.split('/');
  return cidrs.some((cidr) => Number(cidr.split('/')[1]) <= Number(bits) && isWithin(address, cidr));
}

/** Addresses and networks were validated by the server. */
function isWithin(address: string, cidr: string): boolean {
  const [network, bits] = parseCIDR(cidr);
  const parsed = parse(address);
  return parsed.kind() === network.kind() && parsed.match(network, bits);
}
