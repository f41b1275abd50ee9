import { forEachLimited } from '../../../../shared/concurrency/for-each-limited';
import { pause } from '../../../../shared/concurrency/pause';
import { withTimeLimit } from '../../../../shared/concurrency/time-limit';
import type { Log } from '../../../../shared/log/log';
import { apiVersionOf } from '../../../../shared/object/object';
import type { ReadonlyJson } from '../../../../shared/object/json';
import { fields, objectAt } from '../../../../shared/object/json';
import { text } from '../../../../shared/object/accessors';
import type { AggregatedService } from '../../aggregation/aggregated-services';
import type { Aggregator, ReadDocument } from '../../aggregation/aggregator';
import type { UserInfo } from '../../../engine/request/exchange';
import { hashOf } from '../base-document';
import type { OtherDocuments } from './other-documents';
import { readSwagger } from './other-swagger';

/** Interval at which due servers are looked up, in milliseconds. */
const LOOK_MS = 1_000;
/** Time after which a document is fetched again, in milliseconds. */
export const REFRESH_MS = 60_000;
const FIRST_RETRY_MS = 1_000;
const READS_AT_ONCE = 4;
const READ_MS_MAX = 15_000;
const NOT_MODIFIED = 304;
const NOT_FOUND = 404;
const OK = 200;

export interface KeepDocumentsOptions {
  readonly aggregator: Pick<Aggregator, 'services' | 'read'>;
  readonly documents: OtherDocuments;
  readonly log: Log;
  /** {@link REFRESH_MS}; overridden in tests. */
  readonly refreshMs?: number;
}

/** The user of these requests. It needs no rights, because every user may read the documents. */
const READER: UserInfo = { name: 'system:aggregator', uid: '', groups: [], extra: {} };

/**
 * Fetches the documents of extension API servers until the signal aborts: when an APIService is added, changed or available again, and
 * every minute. A failing server keeps its last documents until its APIService is removed. A 404 removes the document.
 */
export async function keepDocuments(options: KeepDocumentsOptions, signal: AbortSignal): Promise<void> {
  const { aggregator, documents, log, refreshMs = REFRESH_MS } = options;
  const known = new Map<string, Known>();
  while (!signal.aborted) {
    const services = aggregator.services.all();
    const names = new Set(services.map(({ name }) => name));
    for (const name of known.keys()) if (!names.has(name)) known.delete(name);
    documents.keepOnly(names);
    await forEachLimited(services, READS_AT_ONCE, async (service) => {
      const entry = knownOf(known, service);
      known.set(service.name, entry);
      if (!service.isAvailable || entry.dueAtMs > Date.now()) return;
      try {
        const read = await refreshed(options, { service, known: entry }, signal);
        known.set(service.name, { ...entry, ...read, failures: 0, dueAtMs: Date.now() + refreshMs });
      } catch (error) {
        if (signal.aborted) return;
        entry.dueAtMs = Date.now() + Math.min(refreshMs, FIRST_RETRY_MS * 2 ** entry.failures);
        entry.failures += 1;
        log.warn({ apiService: service.name, error: String(error) }, 'failed to read an OpenAPI document');
      }
    });
    await pause(Math.min(LOOK_MS, refreshMs), signal);
  }
}

/** The last fetched documents of one server. */
interface Known {
  /** The APIService and its address; a different value means another server. */
  readonly identity: string;
  dueAtMs: number;
  failures: number;
  readonly swagger: Kept;
  readonly part: Kept;
}

interface Kept {
  /** The server's ETag, or a hash of the response body. */
  readonly etag: string;
  /** Absent if there is no document. */
  readonly body: Buffer | undefined;
}

const NOTHING: Kept = { etag: '', body: undefined };

function knownOf(all: ReadonlyMap<string, Known>, service: AggregatedService): Known {
  const { metadata, spec } = service.object;
  const identity = JSON.stringify([metadata.uid, spec]);
  const known = all.get(service.name);
  if (known?.identity !== identity) {
    return { identity, dueAtMs: 0, failures: 0, swagger: NOTHING, part: NOTHING };
  }
  // A server that becomes available again may have changed.
  if (!service.isAvailable) known.dueAtMs = 0;
  return known;
}

async function refreshed(
  { aggregator, documents }: KeepDocumentsOptions,
  { service, known }: { readonly service: AggregatedService; readonly known: Known },
  signal: AbortSignal,
): Promise<Pick<Known, 'swagger' | 'part'>> {
  const read: Read = async (path, etag) =>
    withTimeLimit(signal, READ_MS_MAX, async (inTime) =>
      aggregator.read(service, { path, etag, user: READER }, inTime),
    );
  const swagger = await newerOf(known.swagger, { read, path: '/openapi/v2' }, fittedSwagger);
  const part = await newerPart(known.part, service, read);
  const isChanged = swagger !== known.swagger || part !== known.part;
  const { name, group, version, groupPriorityMinimum } = service;
  // Drop it even if nothing was known, because another server may have had the APIService before.
  if (swagger.body === undefined) documents.drop(name);
  else if (isChanged) {
    documents.put({ name, group, version, groupPriorityMinimum, swagger: swagger.body, part: part.body });
  }
  return { swagger, part };
}

type Read = (path: string, etag: string) => Promise<ReadDocument>;

/** Returns the same object if nothing has changed. Throws the error of the request. */
async function newerOf(
  kept: Kept,
  { read, path }: { readonly read: Read; readonly path: string },
  fitted: (body: Buffer) => Buffer,
): Promise<Kept> {
  const { code, etag, body } = await read(path, kept.etag);
  if (code === NOT_MODIFIED && kept.etag !== '') return kept;
  if (code === NOT_FOUND) return NOTHING;
  if (code !== OK) throw new Error(`${path} was answered with ${String(code)}`);
  const known = etag === '' ? `"${hashOf(body)}"` : etag;
  return known === kept.etag ? kept : { etag: known, body: fitted(body) };
}

/** The v3 document of a group version is found through the v3 index; servers of the time of v1.21 have none. */
async function newerPart(kept: Kept, { group, version }: AggregatedService, read: Read): Promise<Kept> {
  const index = await read('/openapi/v3', '');
  if (index.code !== OK) return NOTHING;
  const { paths } = fields<{ paths: unknown }>(JSON.parse(index.body.toString('utf8')));
  const entry = objectAt(fields<ReadonlyJson>(paths), `apis/${apiVersionOf({ group, version })}`);
  const path = text(fields<{ serverRelativeURL: unknown }>(entry).serverRelativeURL);
  return path.startsWith('/openapi/v3/') ? newerOf(kept, { read, path }, checkedPart) : NOTHING;
}

function fittedSwagger(body: Buffer): Buffer {
  return Buffer.from(JSON.stringify(readSwagger(body)));
}

function checkedPart(body: Buffer): Buffer {
  const { openapi } = fields<{ openapi: unknown }>(JSON.parse(body.toString('utf8')));
  if (!text(openapi).startsWith('3.')) throw new Error('it is no document of OpenAPI v3');
  return body;
}
