import { untilAborted } from '../../shared/concurrency/abort';
import { forEachLimited } from '../../shared/concurrency/for-each-limited';
import { pause } from '../../shared/concurrency/pause';
import { withTimeLimit } from '../../shared/concurrency/time-limit';
import type { APIService, APIServiceCondition } from '../../shared/api/types/apiregistration-v1';
import { ConnectionError } from '../../shared/client/connection-error';
import { StatusError } from '../../shared/errors/status-error';
import type { Log } from '../../shared/log/log';
import { formatTime } from '../../shared/meta/time';
import { API_SERVER_MANAGER, GROUP, USER_GROUP } from '../../shared/names';
import type { ApiObject } from '../../shared/object/object';
import type { ClusterReader } from '../admission/cluster-reader';
import { SERVICES } from '../admission/plugins/resources';
import { causeText } from '../admission/webhooks/call-text';
import { API_SERVER_USER } from '../registry/api-server-user';
import type { Registry } from '../registry/registry';
import { updateObject } from '../registry/update';
import type { WriteContext } from '../registry/write-context';
import type { AggregatedService } from './aggregated-services';
import { discoveryPath } from './aggregated-services';
import type { Aggregator } from './aggregator';
import { ENDPOINTS } from './service-place';

/** How often each server is asked, in milliseconds. */
const ROUND_MS = 2_000;
const CHECKS_AT_ONCE = 16;
const CHECK_MS_MAX = 6_000;
const OK = 200;
const REDIRECT = 300;

export interface AvailabilityOptions {
  readonly aggregator: Aggregator;
  readonly newReading: () => Pick<ClusterReader, 'get'>;
  readonly store: WriteContext;
  readonly registry: () => Registry;
  readonly counts: AvailabilityCounts;
  readonly log: Log;
}

/** For metrics. */
export interface AvailabilityCounts {
  /** Whether each was found unavailable when it was last checked. */
  readonly unavailable: Map<string, boolean>;
  /** How often it became so, by name and reason. */
  readonly total: Map<string, { readonly name: string; readonly reason: string; count: number }>;
}

export function newAvailabilityCounts(): AvailabilityCounts {
  return { unavailable: new Map(), total: new Map() };
}

type Finding = Pick<APIServiceCondition, 'status' | 'reason' | 'message'>;

/** Asks the servers behind this one again and again, and writes into their APIServices what it finds, until the signal aborts. */
export async function keepAvailability(options: AvailabilityOptions, signal: AbortSignal): Promise<void> {
  const { aggregator, log } = options;
  while (!signal.aborted) {
    await forEachLimited(aggregator.services.all(), CHECKS_AT_ONCE, async (service) => {
      await check(options, service, signal).catch((error: unknown) => {
        if (!signal.aborted)
          log.warn({ apiService: service.name, error: String(error) }, 'failed to check an APIService');
      });
    });
    forgetGone(options);
    await pause(ROUND_MS, signal);
  }
}

/** One round of one of them. */
async function check(
  options: AvailabilityOptions,
  service: AggregatedService,
  signal: AbortSignal,
): Promise<void> {
  const finding = findingOfService(options, service) ?? (await findingOfServer(options, service, signal));
  count(options.counts, service.name, finding);
  const known = service.object.status?.conditions?.find(({ type }) => type === 'Available');
  if (
    known?.status === finding.status &&
    known.reason === finding.reason &&
    known.message === finding.message
  ) {
    return;
  }
  await write(options, service, finding, signal);
}

/** What the Service says, without anybody being asked. */
function findingOfService(
  { newReading }: AvailabilityOptions,
  { service: { namespace, name, port } }: AggregatedService,
): Finding | undefined {
  const no = (reason: string, message: string): Finding => ({ status: 'False', reason, message });
  const place = `service/${name} in ${JSON.stringify(namespace)}`;
  const cluster = newReading();
  const service = cluster.get(SERVICES, name, namespace);
  if (service === undefined) return no('ServiceNotFound', `${place} is not present`);
  if ((service.spec.type ?? '') !== 'ClusterIP') return undefined;
  const found = service.spec.ports?.find((each) => each.port === port);
  if (found === undefined) return no('ServicePortError', `${place} is not listening on port ${String(port)}`);
  const endpoints = cluster.get(ENDPOINTS, name, namespace);
  if (endpoints === undefined) return no('EndpointsNotFound', `cannot find endpoints for ${place}`);
  const portName = found.name ?? '';
  const isActive = endpoints.subsets?.some(
    ({ addresses = [], ports = [] }) =>
      addresses.length > 0 && ports.some((each) => (each.name ?? '') === portName),
  );
  if (isActive === true) return undefined;
  return no(
    'MissingEndpoints',
    `endpoints for ${place} have no addresses with port name ${JSON.stringify(portName)}`,
  );
}

const CHECKER = {
  name: 'system:kube-aggregator',
  uid: '',
  groups: [USER_GROUP.masters],
  extra: {},
} as const;

async function findingOfServer(
  { aggregator }: AvailabilityOptions,
  service: AggregatedService,
  signal: AbortSignal,
): Promise<Finding> {
  const path = discoveryPath(service);
  const { namespace, name, port } = service.service;
  const url = `https://${name}.${namespace}.svc:${String(port)}${path}`;
  const failed = (message: string): Finding => ({ status: 'False', reason: 'FailedDiscoveryCheck', message });
  const missing = `failing or missing response from ${url}`;
  try {
    const code = await withTimeLimit(signal, CHECK_MS_MAX, async (inTime) =>
      untilAborted(aggregator.ask(service, path, CHECKER, inTime), inTime),
    );
    if (code >= OK && code < REDIRECT) {
      return { status: 'True', reason: 'Passed', message: 'all checks passed' };
    }
    return failed(`${missing}: bad status from ${url}: ${String(code)}`);
  } catch (error) {
    if (signal.aborted) throw error;
    const text =
      error instanceof ConnectionError
        ? causeText(error, `${name}.${namespace}.svc:${String(port)}`)
        : (error as Error).message;
    return failed(`${missing}: Get ${JSON.stringify(url)}: ${text}`);
  }
}

async function write(
  { store, registry }: AvailabilityOptions,
  { name }: AggregatedService,
  finding: Finding,
  signal: AbortSignal,
): Promise<void> {
  const endpoint = registry().endpoint(GROUP.apiregistration, 'v1', 'apiservices');
  if (endpoint === undefined) return;
  const change = (current: ApiObject | undefined): ApiObject => {
    if (current === undefined) throw new StatusError('NotFound', 'it is gone');
    const { status } = current as APIService;
    const conditions = status?.conditions ?? [];
    const before = conditions.find(({ type }) => type === 'Available');
    const isTransition = before?.status !== finding.status;
    const condition: APIServiceCondition = {
      type: 'Available',
      ...finding,
      lastTransitionTime: isTransition ? formatTime(Date.now()) : before.lastTransitionTime,
    };
    const others = conditions.filter(({ type }) => type !== 'Available');
    return { ...current, status: { ...status, conditions: [...others, condition] } };
  };
  const request = {
    endpoint,
    namespace: '',
    name,
    subresource: 'status',
    user: API_SERVER_USER,
    dryRun: false,
    manager: API_SERVER_MANAGER,
  };
  try {
    await updateObject(store, request, { change, options: { creates: 'never' } }, signal);
  } catch (error) {
    const reason = error instanceof StatusError ? error.status.reason : undefined;
    if (reason !== 'NotFound' && reason !== 'Conflict') throw error;
  }
}

function count(
  { unavailable, total }: AvailabilityCounts,
  name: string,
  { status, reason = '' }: Finding,
): void {
  const isUnavailable = status !== 'True';
  const was = unavailable.get(name) === true;
  unavailable.set(name, isUnavailable);
  if (!isUnavailable || was) return;
  const key = `${name} ${reason}`;
  const row = total.get(key) ?? { name, reason, count: 0 };
  row.count += 1;
  total.set(key, row);
}

function forgetGone({ aggregator, counts }: AvailabilityOptions): void {
  const names = new Set(aggregator.services.all().map(({ name }) => name));
  for (const name of counts.unavailable.keys()) if (!names.has(name)) counts.unavailable.delete(name);
}
