import type { IncomingHttpHeaders } from 'node:http';
import type { ClusterCache } from '../watch-cache/cluster-cache';
import { namespaceRange } from '../watch-cache/state/snapshot';
import type { Exchange } from '../request/exchange';
import { mentionsYaml } from '../request/mentions-yaml';
import type { Registry } from '../registry/registry';

/** The estimated cost of a request. */
export interface Work {
  /** Seats of the priority level; 1 or more. */
  readonly seats: number;
  /** How long the seats are held after the handler returned, while the response is sent, in milliseconds. */
  readonly sendMs: number;
}

export type EstimateWork = (exchange: Pick<Exchange, 'info' | 'query' | 'headers'>) => Work;

export const LEAST_WORK: Work = { seats: 1, sendMs: 0 };

export const SEATS_MAX = 50;
/** Bytes per seat of a list of cached bytes, and of a list whose objects are filtered or encoded again. */
const READY_BYTES_PER_SEAT = 1_024 * 1_024;
const MADE_BYTES_PER_SEAT = 256 * 1_024;
/** A ninth of what the event loop can send, so that four concurrent lists, the maximum of a level, take less than half of its time. */
const SENT_BYTES_PER_MS = 40 * 1_024;
const SEND_MS_MAX = 1_000;
const DELETIONS_PER_SEAT = 20;
/** Bytes of a request body per seat; a chunked body has a fixed cost. */
const BODY_BYTES_PER_SEAT = 64 * 1_024;
const CHUNKED_BODY_SEATS = 4;

export interface WorkSources {
  readonly registry: () => Registry;
  readonly cache: Pick<ClusterCache, 'hasResource' | 'resource'>;
}

/**
 * Creates the work estimator: lists and watches with initial events cost by the bytes they read, collection deletions by the number of objects,
 * other writes by their bodies.
 */
export function createEstimate(sources: WorkSources): EstimateWork {
  return (exchange) => {
    const { info, query, headers } = exchange;
    if (!info.isResourceRequest) return LEAST_WORK;
    switch (info.verb) {
      case 'get':
        return LEAST_WORK;
      case 'list':
        return info.name === '' ? ofReading(sources, exchange) : LEAST_WORK;
      case 'watch':
        return info.name === '' && beginsWithAll(query) ? ofReading(sources, exchange) : LEAST_WORK;
      case 'deletecollection':
        return { seats: seatsOf(countOf(sources, exchange).objects / DELETIONS_PER_SEAT), sendMs: 0 };
      default:
        return ofBody(headers);
    }
  };
}

/** Returns the cost of sending cached bytes; it is constant above {@link DELIVERED_BYTES_MAX}. */
export function workOfSending(bytes: number): Work {
  return ofBytes(bytes, READY_BYTES_PER_SEAT);
}

/** Fewer bytes have the minimal cost. */
export const DELIVERED_BYTES_MIN = READY_BYTES_PER_SEAT;
export const DELIVERED_BYTES_MAX = SEATS_MAX * READY_BYTES_PER_SEAT;

/** One request takes at most a quarter of the seats of its level, so that others are not starved. */
const SHARE_MAX = 4;

export function withinLevel(work: Work, levelSeats: number): Work {
  const max = Math.max(1, Math.floor(levelSeats / SHARE_MAX));
  return work.seats <= max ? work : { ...work, seats: max };
}

function ofReading(sources: WorkSources, exchange: Parameters<EstimateWork>[0]): Work {
  const { bytes } = countOf(sources, exchange);
  return ofBytes(bytes, isReady(exchange) ? READY_BYTES_PER_SEAT : MADE_BYTES_PER_SEAT);
}

function ofBytes(bytes: number, perSeat: number): Work {
  if (bytes < perSeat) return LEAST_WORK;
  return { seats: seatsOf(bytes / perSeat), sendMs: Math.min(SEND_MS_MAX, bytes / SENT_BYTES_PER_MS) };
}

function ofBody(headers: IncomingHttpHeaders): Work {
  if (headers['transfer-encoding'] !== undefined) return { seats: CHUNKED_BODY_SEATS, sendMs: 0 };
  const bytes = Number(headers['content-length'] ?? 0);
  return bytes > BODY_BYTES_PER_SEAT
    ? { seats: seatsOf(bytes / BODY_BYTES_PER_SEAT), sendMs: 0 }
    : LEAST_WORK;
}

function seatsOf(units: number): number {
  return Math.min(SEATS_MAX, 1 + Math.floor(units));
}

/** Returns the objects and bytes that are read: all of the resource, a namespace, or a page. */
function countOf(
  { registry, cache }: WorkSources,
  { info, query }: Parameters<EstimateWork>[0],
): { readonly objects: number; readonly bytes: number } {
  const keyPrefix = registry().endpoint(info.apiGroup, info.apiVersion, info.resource)?.stored.keyPrefix;
  if (keyPrefix === undefined || !cache.hasResource(keyPrefix)) return NOTHING;
  const cached = cache.resource(keyPrefix);
  const { objects: all, bytes } = cached.size;
  if (all === 0) return NOTHING;
  const inPlace = info.namespace === '' ? all : cached.snapshot().count(...namespaceRange(info.namespace));
  const limit = Number(query.get('limit') ?? 0);
  const objects = limit > 0 ? Math.min(inPlace, limit) : inPlace;
  return { objects, bytes: (objects * bytes) / all };
}

const NOTHING = { objects: 0, bytes: 0 };

function beginsWithAll(query: URLSearchParams): boolean {
  const version = query.get('resourceVersion') ?? '';
  return version === '' || version === '0' || query.has('sendInitialEvents');
}

/** Returns whether the bytes are sent as the cache holds them. */
function isReady({ query, headers }: Parameters<EstimateWork>[0]): boolean {
  const { accept = '' } = headers;
  if (/as=|protobuf/u.test(accept) || mentionsYaml(accept)) return false;
  return !query.has('labelSelector') && !query.has('fieldSelector');
}
