import { forEachLimited } from '../../../shared/concurrency/for-each-limited';
import { Pace } from '../../../shared/concurrency/pace';
import { badRequest, StatusError } from '../../../shared/errors/status-error';
import type { ImportReport, RefusedObject } from '../../../shared/files/object-import';
import { OBJECT_IMPORT_LINES_MAX, OBJECT_IMPORT_PATH } from '../../../shared/files/object-import';
import { pathSegmentProblems } from '../../../shared/meta/dns-names';
import { MEDIA_TYPE, NAMESPACE, USER_GROUP } from '../../../shared/names';
import { isJsonObject } from '../../../shared/object/clone';
import type { ApiObject } from '../../../shared/object/object';
import { decodeJson, decodeObject } from '../../../shared/schema/decode';
import { hasUnknownFields } from '../../../shared/schema/unknown-fields';
import { API_SERVER_USER } from '../registry/api-server-user';
import { converting } from '../registry/conversion-needed';
import { toHub } from '../registry/hub';
import type { Registry } from '../registry/registry';
import type { Endpoint } from '../registry/resource';
import { encodeForStorage } from '../registry/stored-form';
import { writeOptimistically } from '../registry/write';
import type { WriteContext } from '../registry/write-context';
import { writeTarget } from '../registry/write-target';
import type { Exchange } from '../request/exchange';
import type { PageRoutes } from '../server/page-router';
import { createPageRouter, page } from '../server/page-router';

export interface ImportParts {
  readonly store: WriteContext;
  readonly registry: () => Registry;
  /** Waits until the registry has all custom resources of the store. */
  readonly confirmRegistry: (signal: AbortSignal) => Promise<unknown>;
}

/** Objects that are written at once; the store gathers them into groups. */
const PARALLEL_WRITES = 64;
const LINE = 0x0a;

/**
 * Creates the route that stores objects as they are: uid, ownerReferences, status, times, finalizers and managedFields are kept, and no
 * admission and no validation applies. An existing object of the same name is replaced. Only members of the superuser group may use it,
 * whatever the authorizers allow, because it can grant any right. Objects that were never stored, those without uid, get what a creation would
 * give them.
 */
export function createImportRouter(parts: ImportParts): PageRoutes {
  const router = createPageRouter();
  router.all(
    OBJECT_IMPORT_PATH,
    page(async ({ exchange }) => {
      if (exchange.method !== 'POST') return undefined;
      refuseOthers(exchange);
      const report = await importLines(parts, await exchange.readBody(), exchange.signal);
      return {
        code: 200,
        headers: { 'Content-Type': MEDIA_TYPE.json },
        body: Buffer.from(JSON.stringify(report)),
      };
    }),
  );
  return { router, paths: [] };
}

function refuseOthers({ user }: Exchange): void {
  if (user.groups.includes(USER_GROUP.masters)) return;
  throw new StatusError('Forbidden', `only members of ${USER_GROUP.masters} may import objects`);
}

async function importLines(parts: ImportParts, body: Buffer, signal: AbortSignal): Promise<ImportReport> {
  const refused: RefusedObject[] = [];
  const pace = new Pace();
  let stored = 0;
  let confirming: Promise<unknown> | undefined;
  const find: FindEndpoint = async (object) => {
    const known = endpointFor(parts.registry(), object);
    if (known !== undefined) return known;
    await (confirming ??= parts.confirmRegistry(signal));
    return endpointFor(parts.registry(), object);
  };
  await forEachLimited(splitLines(body), PARALLEL_WRITES, async ({ line, bytes }) => {
    if (pace.isDue) await pace.rest();
    const refusal = await importOne(parts.store, find, bytes, signal);
    if (refusal === undefined) stored += 1;
    else refused.push({ line, ...refusal });
  });
  return { stored, refused: refused.sort((a, b) => a.line - b.line) };
}

interface Line {
  readonly line: number;
  readonly bytes: Buffer;
}

/** The lines that are not empty. Throws a BadRequest if there are too many, before any object is stored. */
function splitLines(body: Buffer): readonly Line[] {
  const lines: Line[] = [];
  let line = 0;
  for (let at = 0; at < body.length; line += 1) {
    if (line === OBJECT_IMPORT_LINES_MAX) {
      throw badRequest(`a request has more than ${String(OBJECT_IMPORT_LINES_MAX)} lines`);
    }
    const end = body.indexOf(LINE, at);
    const next = end < 0 ? body.length : end;
    if (next > at) lines.push({ line, bytes: body.subarray(at, next) });
    at = next + 1;
  }
  return lines;
}

type Refusal = Omit<RefusedObject, 'line'>;
type FindEndpoint = (object: ApiObject) => Promise<Endpoint | undefined>;

async function importOne(
  store: WriteContext,
  find: FindEndpoint,
  bytes: Buffer,
  signal: AbortSignal,
): Promise<Refusal | undefined> {
  const object = decodeLine(bytes);
  if (object === undefined) return { kind: 'invalid', reason: 'the line is no object of the API' };
  const { kind = '', apiVersion = '', metadata } = object;
  const about = `${kind} ${[metadata.namespace, metadata.name].filter(Boolean).join('/')} of ${apiVersion}`;
  const endpoint = await find(object);
  if (endpoint === undefined) return { kind: 'not served', reason: `${about}: the kind is not served` };
  try {
    await put(store, endpoint, object, signal);
    return undefined;
  } catch (error) {
    if (!(error instanceof StatusError) && !(error instanceof RangeError)) throw error;
    return { kind: 'invalid', reason: `${about}: ${error.message}` };
  }
}

function decodeLine(bytes: Buffer): ApiObject | undefined {
  try {
    const value = decodeJson(bytes);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Whether the value has what the place of an object in the store is made of, with the right types. */
function isObject(value: unknown): value is ApiObject {
  if (!isJsonObject(value)) return false;
  const { apiVersion, kind, metadata } = value;
  if (!isJsonObject(metadata)) return false;
  const { name, namespace, uid } = metadata;
  return [apiVersion, kind, name, namespace, uid].every(
    (each) => each === undefined || typeof each === 'string',
  );
}

/** The endpoint of the object's kind that stores objects. */
function endpointFor(registry: Registry, { apiVersion = '', kind }: ApiObject): Endpoint | undefined {
  const [group, version] = apiVersion.includes('/') ? apiVersion.split('/') : ['', apiVersion];
  return registry
    .endpointsOf(group ?? '', version ?? '')
    .find((each) => each.row.kind === kind && each.virtual === undefined);
}

/** Writes the object over whatever has its name. Fields of later releases are kept, as in objects of this store. */
async function put(
  store: WriteContext,
  endpoint: Endpoint,
  given: ApiObject,
  signal: AbortSignal,
): Promise<void> {
  const { stored, row } = endpoint;
  const isNew = (given.metadata.uid ?? '') === '';
  const { name = '', namespace = isNew && row.namespaced ? NAMESPACE.default : '' } = given.metadata;
  if (name === '') throw badRequest('metadata.name is missing');
  // They are parts of the key.
  const [problem] = [...pathSegmentProblems(name), ...pathSegmentProblems(namespace)];
  if (problem !== undefined) throw badRequest(`metadata.name or metadata.namespace ${problem}`);
  if (row.namespaced !== (namespace !== '')) throw badRequest('metadata.namespace does not fit the kind');
  const complete = isNew ? asNew(store, endpoint, given) : given;
  const object = await converting(() => toHub(endpoint, asConvertible(endpoint, complete)), signal);
  const request = { endpoint, namespace, name, subresource: '', user: API_SERVER_USER, dryRun: false };
  const target = writeTarget(store, request, { assumeAbsent: true });
  const hasNewer = stored.custom === undefined && hasUnknownFields(stored.type, object);
  await writeOptimistically(
    hasNewer
      ? {
          ...target,
          encode: (each) =>
            encodeForStorage(stored, each, { object, newer: object, plain: Buffer.alloc(0), revision: 0 }),
        }
      : target,
    async () => Promise.resolve({ kind: 'put', object }),
    signal,
  );
}

/** Conversions work on typed objects; what is in the stored version is decoded when it is encoded. */
function asConvertible({ apiVersion, stored, type, conversion }: Endpoint, object: ApiObject): ApiObject {
  return apiVersion === stored.apiVersion || conversion === undefined
    ? object
    : decodeObject(type, object).object;
}

function asNew(store: WriteContext, { row, type, applyDefaults }: Endpoint, given: ApiObject): ApiObject {
  const { object } = decodeObject(type, given);
  const complete = applyDefaults?.(object) ?? object;
  const creationTimestamp = new Date(store.clock.now()).toISOString().replace(/\.\d+Z$/u, 'Z');
  const namespace = row.namespaced ? { namespace: NAMESPACE.default } : {};
  const metadata = {
    generation: 1,
    creationTimestamp,
    ...namespace,
    ...complete.metadata,
    uid: store.newUid(),
  };
  return { ...complete, metadata };
}
