import { untilAborted } from '../../../shared/concurrency/abort';
import { forEachLimited } from '../../../shared/concurrency/for-each-limited';
import { monotonicClock } from '../../../shared/concurrency/monotonic-clock';
import { withTimeLimit } from '../../../shared/concurrency/time-limit';
import type {
  APIService,
  APIServiceCondition,
  APIServiceSpec,
} from '../../../shared/api/types/apiregistration-v1';
import { ConnectionError } from '../../../shared/client/connection-error';
import { StatusError } from '../../../shared/errors/status-error';
import type { Log } from '../../../shared/log/log';
import { formatTime } from '../../../shared/meta/time';
import { API_SERVER_MANAGER, GROUP, USER_GROUP } from '../../../shared/names';
import { deepEqual } from '../../../shared/object/clone';
import type { ApiObject } from '../../../shared/object/object';
import type { ClusterReader } from '../cluster/cluster-reader';
import { ENDPOINTS, SERVICES } from '../cluster/resources';
import { getServiceHost } from '../cluster/service-resolver';
import { causeText } from '../../engine/remote/call-text';
import { LOCAL_CONDITION } from '../kinds/apiregistration/api-services';
import { API_SERVER_USER } from '../../engine/registry/api-server-user';
import type { Registry } from '../../engine/registry/registry';
import { updateObject } from '../../engine/registry/update';
import type { WriteContext } from '../../engine/registry/write-context';
import type { AggregatedService } from './aggregated-services';
import { discoveryPath, isSameFinding } from './aggregated-services';
import type { Aggregator } from './aggregator';

/** The interval between checks of each server, in milliseconds. */
const ROUND_MS = 2_000;
const CHECKS_AT_ONCE = 16;
const CHECKS_IN_A_ROUND_MAX = 8;
const AVAILABLE = LOCAL_CONDITION.type;
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

/** Counters for metrics. */
export interface AvailabilityCounts {
  /** Whether the last check found the APIService unavailable, by its name. */
  readonly unavailable: Map<string, boolean>;
  /** How often an APIService became unavailable, by name and reason. */
  readonly total: Map<string, { readonly name: string; readonly reason: string; count: number }>;
}

export function newAvailabilityCounts(): AvailabilityCounts {
  return { unavailable: new Map(), total: new Map() };
}

type Finding = Pick<APIServiceCondition, 'status' | 'reason' | 'message'>;

/**
 * Checks the extension API servers periodically and writes the results into their APIServices, until the signal aborts. A changed APIService
 * is checked at once, as upstream's controller does.
 */
export async function runAvailabilityChecks(
  options: AvailabilityOptions,
  signal: AbortSignal,
): Promise<void> {
  const { services } = options.aggregator;
  while (!signal.aborted) {
    const round: Round = { options, checked: new Map(), nextAtMs: monotonicClock.now() + ROUND_MS };
    await checkAll(round, services.all(), signal);
    dropRemoved(options);
    while (!signal.aborted && monotonicClock.now() < round.nextAtMs) {
      await markLocal(options, signal);
      await checkAll(round, services.all().filter(mustBeChecked(round)), signal);
      await services.nextChange(Math.max(0, round.nextAtMs - monotonicClock.now()), signal);
    }
  }
}

interface Round {
  readonly options: AvailabilityOptions;
  /** The last check of each APIService in this round. */
  readonly checked: Map<string, Checked>;
  /** When the next round begins, by the monotonic clock. */
  readonly nextAtMs: number;
}

interface Checked {
  readonly spec: APIServiceSpec;
  readonly finding: Finding;
  readonly times: number;
}

/**
 * Selects APIServices whose spec or condition has changed since the check. The number of checks in a round is bounded, because replicas that
 * disagree would overwrite each other without end.
 */
function mustBeChecked({ checked }: Round): (service: AggregatedService) => boolean {
  return ({ name, object }) => {
    const last = checked.get(name);
    if (last === undefined) return true;
    if (last.times >= CHECKS_IN_A_ROUND_MAX) return false;
    return !says(object, last.finding) || !deepEqual(object.spec, last.spec);
  };
}

function says({ status }: APIService, finding: Finding): boolean {
  const known = status?.conditions?.find(({ type }) => type === AVAILABLE);
  return known !== undefined && isSameFinding(known, finding);
}

async function checkAll(
  round: Round,
  services: readonly AggregatedService[],
  signal: AbortSignal,
): Promise<void> {
  await forEachLimited(services, CHECKS_AT_ONCE, async (service) =>
    runLogged(round.options, service.name, signal, async () => check(round, service, signal)),
  );
}

/** Logs the failure of a step, so that the others continue. */
async function runLogged(
  { log }: AvailabilityOptions,
  name: string,
  signal: AbortSignal,
  step: () => Promise<void>,
): Promise<void> {
  try {
    await step();
  } catch (error) {
    if (!signal.aborted)
      log.warn({ apiService: name, error: String(error) }, 'failed to check an APIService');
  }
}

async function check(
  { options, checked }: Round,
  service: AggregatedService,
  signal: AbortSignal,
): Promise<void> {
  const { name, object } = service;
  const times = (checked.get(name)?.times ?? 0) + 1;
  const finding = findingOfService(options, service) ?? (await findingOfServer(options, service, signal));
  checked.set(name, { spec: object.spec, finding, times });
  count(options.counts, name, finding);
  if (!says(object, finding)) await write(options, name, finding, signal);
}

/** Writes the condition `Local` into APIServices without a Service, which may have another one from the time when they had a Service. */
async function markLocal(options: AvailabilityOptions, signal: AbortSignal): Promise<void> {
  await forEachLimited(options.aggregator.services.unmarked(), CHECKS_AT_ONCE, async (name) =>
    runLogged(options, name, signal, async () => write(options, name, LOCAL_CONDITION, signal)),
  );
}

/** Returns why the Service cannot be reached; undefined if it has ready endpoints, or if only a request can show it. */
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
  const host = `${getServiceHost({ namespace, name })}:${String(port)}`;
  const url = `https://${host}${path}`;
  const failed = (message: string): Finding => ({ status: 'False', reason: 'FailedDiscoveryCheck', message });
  const missing = `failing or missing response from ${url}`;
  try {
    const code = await withTimeLimit(signal, CHECK_MS_MAX, async (inTime) =>
      untilAborted(aggregator.check(service, path, CHECKER, inTime), inTime),
    );
    if (code >= OK && code < REDIRECT) {
      return { status: 'True', reason: 'Passed', message: 'all checks passed' };
    }
    return failed(`${missing}: bad status from ${url}: ${String(code)}`);
  } catch (error) {
    if (signal.aborted) throw error;
    const text = error instanceof ConnectionError ? causeText(error, host) : (error as Error).message;
    return failed(`${missing}: Get ${JSON.stringify(url)}: ${text}`);
  }
}

async function write(
  { store, registry }: AvailabilityOptions,
  name: string,
  finding: Finding,
  signal: AbortSignal,
): Promise<void> {
  const endpoint = registry().endpoint(GROUP.apiregistration, 'v1', 'apiservices');
  if (endpoint === undefined) return;
  const change = (current: ApiObject | undefined): ApiObject => {
    if (current === undefined) throw new StatusError('NotFound', 'the APIService was deleted');
    return withFinding(current as APIService, finding);
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

/**
 * Sets the condition `Available`. Its position stays, and so does its transition time while the status is the same. A result for an APIService
 * with a Service does not apply to one without, and vice versa.
 */
function withFinding(current: APIService, finding: Finding): APIService {
  if ((finding.reason === LOCAL_CONDITION.reason) !== (current.spec.service === undefined)) return current;
  const conditions = current.status?.conditions ?? [];
  const known = conditions.find(({ type }) => type === AVAILABLE);
  const isTransition = known?.status !== finding.status;
  const condition: APIServiceCondition = {
    ...finding,
    type: AVAILABLE,
    lastTransitionTime: isTransition ? formatTime(Date.now()) : known.lastTransitionTime,
  };
  const next =
    known === undefined
      ? [...conditions, condition]
      : conditions.map((each) => (each === known ? condition : each));
  return { ...current, status: { ...current.status, conditions: next } };
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

function dropRemoved({ aggregator, counts }: AvailabilityOptions): void {
  const names = new Set(aggregator.services.all().map(({ name }) => name));
  for (const name of counts.unavailable.keys()) if (!names.has(name)) counts.unavailable.delete(name);
}
