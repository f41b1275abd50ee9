import { randomUUID } from 'node:crypto';
import type { MemorySnapshot } from '../apiserver/engine/storage/stores/memory/memory-backend';
import type { StoredRecord } from '../apiserver/engine/storage/backend';
import { formatTime } from '../shared/meta/time';

const BEGINNINGS_MAX = 8;
/** The time in place of that at which an object was made. */
const NO_TIME = '2000-01-01T00:00:00Z';

/**
 * The first objects of control planes, by the options that decide about them. To create them takes a third of the time of a start, and they only
 * differ in uids and times. They are immutable data of the code: no control plane sees another one through them. The build adds those of the
 * default options.
 */
const beginnings = new Map<string, readonly Beginning[]>();

interface Beginning {
  readonly key: string;
  /** The value before and after the uid; the value alone if the record is no object. */
  readonly parts: readonly string[];
}

/** Objects of one API server: its address, and the leases that it renews. */
const OF_ONE_SERVER = /\/(?:endpoints|endpointslices|leases)\//u;

/** Adds what `exportBeginning` has returned. */
export function addBeginning(text: string): void {
  const [options, beginning] = JSON.parse(text) as [string, readonly Beginning[]];
  beginnings.set(options, beginning);
}

/** Returns the state of a control plane as a beginning of others with its options. */
export function exportBeginning(options: string, snapshot: MemorySnapshot): string {
  return JSON.stringify([options, toBeginning(snapshot)]);
}

/** Remembers what a control plane has before any client or controller writes. */
export function rememberBeginning(options: string, snapshot: MemorySnapshot): void {
  if (beginnings.has(options) || beginnings.size >= BEGINNINGS_MAX) return;
  beginnings.set(options, toBeginning(snapshot));
}

function toBeginning({ records, expiries }: MemorySnapshot): readonly Beginning[] {
  return [...records.values()]
    .filter(({ key }) => !expiries.has(key) && !OF_ONE_SERVER.test(key))
    .map(({ key, value }) => ({ key, parts: partsOf(value.toString('utf8')) }));
}

/** The first objects for another control plane with these options, made at `nowMs`; undefined if none are known. */
export function beginningOf(options: string, nowMs: number): MemorySnapshot | undefined {
  const known = beginnings.get(options);
  if (known === undefined) return undefined;
  const now = formatTime(nowMs);
  const records = new Map<string, StoredRecord>();
  for (const { key, parts } of known) {
    const value = Buffer.from(parts.join(randomUUID()).replaceAll(NO_TIME, now));
    records.set(key, { key, value, revision: records.size + 1 });
  }
  return { revision: records.size, records, expiries: new Map() };
}

function partsOf(value: string): readonly string[] {
  if (!value.startsWith('{"kind":')) return [value];
  const { metadata } = JSON.parse(value) as {
    readonly metadata?: { readonly uid?: string; readonly creationTimestamp?: string };
  };
  const { uid, creationTimestamp } = metadata ?? {};
  if (uid === undefined || creationTimestamp === undefined) return [value];
  return value.replaceAll(/"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"/gu, `"${NO_TIME}"`).split(uid);
}
