import type { APIVersionDiscovery } from '../../../../shared/api/types/apidiscovery-v2';
import { forEachLimited } from '../../../../shared/concurrency/for-each-limited';
import { pause } from '../../../../shared/concurrency/pause';
import { withTimeLimit } from '../../../../shared/concurrency/time-limit';
import type { Log } from '../../../../shared/log/log';
import { GROUP, KUBERNETES_DISCOVERY_GROUP, MEDIA_TYPE, USER_GROUP } from '../../../../shared/names';
import { apiVersionOf } from '../../../../shared/object/object';
import { decodeJson, decodeObject } from '../../../../shared/schema/decode';
import { messageType } from '../../../../shared/schema/types';
import type { UserInfo } from '../../../engine/request/exchange';
import type { AggregatedService } from '../../aggregation/aggregated-services';
import { discoveryPath } from '../../aggregation/aggregated-services';
import type { Aggregator } from '../../aggregation/aggregator';
import type { OtherVersion } from './discovered-version';
import { discoveredResources } from './discovered-version';

/** Interval at which due servers are looked up, in milliseconds. */
const LOOK_MS = 1_000;
/** Time after which a server is asked again, in milliseconds. */
const REFRESH_MS = 60_000;
const FIRST_RETRY_MS = 500;
/** How long an APIService may be unreadable before this is logged: it is so while it or this server starts. */
const REPORT_AFTER_MS = 30_000;
const READS_AT_ONCE = 4;
const READ_MS_MAX = 5_000;
const OK = 200;
const NOT_MODIFIED = 304;
const UNAVAILABLE = 503;

const LIST = messageType('apidiscovery/v2.APIGroupDiscoveryList');
const RESOURCES = messageType('meta/v1.APIResourceList');

/** Extension API servers that check their users must list everything. */
const READER: UserInfo = {
  name: 'system:kube-aggregator',
  uid: '',
  groups: [USER_GROUP.masters],
  extra: {},
};

const ACCEPT = ['v2', 'v2beta1']
  .map((v) => `${MEDIA_TYPE.json};g=${KUBERNETES_DISCOVERY_GROUP};v=${v};as=APIGroupDiscoveryList`)
  .join(',');

/** What extension API servers list of the versions of their APIServices. */
export class OtherDiscovery {
  readonly #byName = new Map<string, OtherVersion>();
  #current: readonly OtherVersion[] = [];

  /** Returns all versions. It is the same list as long as nothing has changed. */
  current(): readonly OtherVersion[] {
    return this.#current;
  }

  put(name: string, version: OtherVersion): void {
    if (JSON.stringify(this.#byName.get(name)) === JSON.stringify(version)) return;
    this.#byName.set(name, version);
    this.#current = [...this.#byName.values()];
  }

  keepOnly(names: ReadonlySet<string>): void {
    const gone = [...this.#byName.keys()].filter((name) => !names.has(name));
    if (gone.length === 0) return;
    for (const name of gone) this.#byName.delete(name);
    this.#current = [...this.#byName.values()];
  }
}

export interface KeepDiscoveryOptions {
  readonly aggregator: Pick<Aggregator, 'services' | 'read'>;
  readonly discovery: OtherDiscovery;
  readonly log: Log;
  /** {@link REFRESH_MS}; overridden in tests. */
  readonly refreshMs?: number;
  /** {@link REPORT_AFTER_MS}; overridden in tests. */
  readonly reportAfterMs?: number;
}

/**
 * Asks extension API servers for their resources until the signal aborts: when an APIService is added or changed, and every minute. A
 * version that cannot be read is listed as stale and without resources (upstream: `kube-aggregator/pkg/apiserver/handler_discovery.go`).
 */
export async function keepDiscovery(options: KeepDiscoveryOptions, signal: AbortSignal): Promise<void> {
  const { aggregator, discovery, refreshMs = REFRESH_MS } = options;
  const known = new Map<string, Known>();
  const lists = new Map<string, KnownList>();
  while (!signal.aborted) {
    // Aggregated discovery of the core group has no place for other servers.
    const services = aggregator.services.all().filter(({ group }) => group !== '');
    const names = new Set(services.map(({ name }) => name));
    for (const name of known.keys()) if (!names.has(name)) known.delete(name);
    discovery.keepOnly(names);
    const servers = byServer(services);
    for (const server of lists.keys()) if (!servers.has(server)) lists.delete(server);
    await forEachLimited(servers, READS_AT_ONCE, async ([server, all]) => {
      const due = all.filter((service) => isDue(known, service));
      if (due.length > 0) await refresh(options, { server, services: due, known, lists }, signal);
    });
    await pause(Math.min(LOOK_MS, refreshMs), signal);
  }
}

interface Known {
  /** The APIService and its availability; a change makes it due. */
  readonly identity: string;
  dueAtMs: number;
  failures: number;
  /** Since when it is unreadable, and whether that was logged; kept over changes of the APIService. */
  outage: { readonly sinceMs: number; isLogged: boolean } | undefined;
}

/** The last list of a server. */
interface KnownList {
  readonly etag: string;
  readonly versions: ReadonlyMap<string, APIVersionDiscovery>;
}

function byServer(services: readonly AggregatedService[]): Map<string, AggregatedService[]> {
  const found = new Map<string, AggregatedService[]>();
  for (const each of services) {
    const { namespace, name, port } = each.service;
    const server = `${namespace}/${name}:${String(port)}`;
    found.set(server, [...(found.get(server) ?? []), each]);
  }
  return found;
}

function isDue(known: Map<string, Known>, { name, object, isAvailable }: AggregatedService): boolean {
  const identity = JSON.stringify([object.metadata.uid, object.spec, isAvailable]);
  const last = known.get(name);
  if (last?.identity === identity) return last.dueAtMs <= Date.now();
  known.set(name, { identity, dueAtMs: 0, failures: 0, outage: last?.outage });
  return true;
}

interface Refresh {
  readonly server: string;
  /** The due APIServices of the server. */
  readonly services: readonly AggregatedService[];
  readonly known: ReadonlyMap<string, Known>;
  readonly lists: Map<string, KnownList>;
}

async function refresh(options: KeepDiscoveryOptions, asked: Refresh, signal: AbortSignal): Promise<void> {
  const { server, services, known, lists } = asked;
  const available = services.find(({ isAvailable }) => isAvailable);
  let list: KnownList | 'none' | undefined;
  const step = async (service: AggregatedService): Promise<APIVersionDiscovery | undefined> => {
    if (!service.isAvailable || available === undefined) throw new Error('the APIService is not available');
    list ??= await readList(options, { service: available, last: lists.get(server) }, signal);
    if (list === 'none') return readVersion(options, service, signal);
    lists.set(server, list);
    return list.versions.get(apiVersionOf(service));
  };
  for (const service of services) {
    const { name, group, version, groupPriorityMinimum, versionPriority } = service;
    const entry = known.get(name);
    let listed: APIVersionDiscovery | undefined;
    let freshness = 'Current';
    try {
      listed = await step(service);
      if (entry !== undefined) noteRead(entry, name, options);
    } catch (error) {
      if (signal.aborted) return;
      freshness = 'Stale';
      if (entry !== undefined) noteFailure(entry, { name, error }, options);
    }
    const discovery = { ...listed, version, freshness };
    options.discovery.put(name, { group, version, groupPriorityMinimum, versionPriority, discovery });
  }
}

function noteRead(entry: Known, name: string, { log, refreshMs = REFRESH_MS }: KeepDiscoveryOptions): void {
  if (entry.outage?.isLogged === true) log.info({ apiService: name }, READABLE);
  Object.assign(entry, { failures: 0, dueAtMs: Date.now() + refreshMs, outage: undefined });
}

const READABLE = 'the discovery of an APIService is readable again';

/** Logs an outage once, in one line. */
function noteFailure(
  entry: Known,
  { name, error }: { readonly name: string; readonly error: unknown },
  { log, refreshMs = REFRESH_MS, reportAfterMs = REPORT_AFTER_MS }: KeepDiscoveryOptions,
): void {
  const now = Date.now();
  entry.dueAtMs = now + Math.min(refreshMs, FIRST_RETRY_MS * 2 ** entry.failures);
  entry.failures += 1;
  const outage = (entry.outage ??= { sinceMs: now, isLogged: false });
  if (outage.isLogged || now - outage.sinceMs < reportAfterMs) return;
  outage.isLogged = true;
  const [firstLine = ''] = String(error).split('\n');
  log.warn({ apiService: name, error: firstLine }, 'failed to read the discovery of an APIService');
}

/** Returns the server's aggregated discovery; `none` if it has only plain discovery. Throws if the server is not available. */
async function readList(
  { aggregator }: KeepDiscoveryOptions,
  { service, last }: { readonly service: AggregatedService; readonly last: KnownList | undefined },
  signal: AbortSignal,
): Promise<KnownList | 'none'> {
  const { code, contentType, etag, body } = await withTimeLimit(signal, READ_MS_MAX, async (inTime) =>
    aggregator.read(service, { path: '/apis', accept: ACCEPT, etag: last?.etag ?? '', user: READER }, inTime),
  );
  if (code === NOT_MODIFIED && last !== undefined) return last;
  if (code === UNAVAILABLE) throw new Error('the server is not available');
  if (code !== OK || !isAggregated(contentType)) return 'none';
  const versions = new Map<string, APIVersionDiscovery>();
  for (const { metadata, versions: listed = [] } of decodeObject(LIST, decodeJson(body)).object.items ?? []) {
    const group = metadata.name ?? '';
    for (const each of listed) versions.set(apiVersionOf({ group, version: each.version }), withKinds(each));
  }
  return { etag, versions };
}

function isAggregated(contentType: string): boolean {
  const parameters = new Set(contentType.split(';').map((each) => each.trim()));
  const isOfGroup = [GROUP.apidiscovery, KUBERNETES_DISCOVERY_GROUP].some((group) =>
    parameters.has(`g=${group}`),
  );
  return (
    isOfGroup && parameters.has('as=APIGroupDiscoveryList') && VERSIONS.some((each) => parameters.has(each))
  );
}

const VERSIONS = ['v=v2', 'v=v2beta1'];

/** Some clients of v0.26 read kinds that are not there. */
function withKinds(version: APIVersionDiscovery): APIVersionDiscovery {
  const responseKind = { group: '', version: '', kind: '' };
  const resources = version.resources?.map((resource) => ({
    responseKind,
    ...resource,
    subresources: (resource.subresources ?? []).map((each) => ({ responseKind, ...each })),
  }));
  return resources === undefined ? version : { ...version, resources };
}

/** Reads the plain discovery of one version. */
async function readVersion(
  { aggregator }: KeepDiscoveryOptions,
  service: AggregatedService,
  signal: AbortSignal,
): Promise<APIVersionDiscovery> {
  const path = discoveryPath(service);
  const { code, body } = await withTimeLimit(signal, READ_MS_MAX, async (inTime) =>
    aggregator.read(service, { path, etag: '', user: { ...READER, groups: [] } }, inTime),
  );
  if (code !== OK) throw new Error(`${path} was answered with ${String(code)}`);
  const { resources } = decodeObject(RESOURCES, decodeJson(body)).object;
  return { version: service.version, resources: discoveredResources(resources ?? []) };
}
