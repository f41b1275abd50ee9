import { parseGroupVersion } from '../../../../shared/api/resources';
import type { ParamKind, ParamRef } from '../../../../shared/api/types/admissionregistration-v1';
import { Slices } from '../../../../shared/concurrency/slices';
import { withTimeLimit } from '../../../../shared/concurrency/time-limit';
import { matchesLabels, toLabelSelector } from '../../../../shared/meta/labels';
import type { ApiObject, GroupVersionKind } from '../../../../shared/object/object';
import { apiVersionOf } from '../../../../shared/object/object';
import { converting } from '../../../engine/registry/conversion-needed';
import { lastSeen } from '../../../engine/registry/current';
import { fromHub } from '../../../engine/registry/hub';
import type { ReadContext } from '../../../engine/registry/read-context';
import type { Endpoint } from '../../../engine/registry/resource';
import { relativeKey } from '../../../engine/registry/resource';
import { currentOfEntry } from '../../../engine/registry/stored-form';

/** How policies read their parameters, which may be objects of any kind. */
export interface ParamReader {
  readonly read: ReadContext;
  /** Returns the endpoint of a kind, custom resources included; undefined if it is not served. */
  readonly endpointOfKind: (kind: GroupVersionKind) => Endpoint | undefined;
}

/** How long a request waits for a refill of the parameters. */
const WAIT_MS_MAX = 1_000;
/** How long it waits in a worker, which fills a resource when it first needs it. */
const FILL_MS_MAX = 30_000;
/** The most parameters that one binding may select: each one is an evaluation. */
const PARAMS_MAX = 1_000;

/** Returns the endpoint of a policy's parameters. Throws an Error if it is not served. */
export function paramEndpoint(
  { endpointOfKind }: ParamReader,
  { apiVersion = '', kind = '' }: ParamKind,
): Endpoint {
  const { group, version } = parseGroupVersion(apiVersion);
  const endpoint = endpointOfKind({ group, version, kind });
  if (endpoint !== undefined && endpoint.virtual === undefined) return endpoint;
  const text = `${group}/${version}, Kind=${kind}`;
  throw new Error(`failed to find resource referenced by paramKind: '${text}'`);
}

/**
 * Returns the parameters of a binding: each is an evaluation of its own, and without any there is none (k8s.io/apiserver
 * `admission/plugin/policy/generic`, `CollectParams`). Throws an Error for a binding that cannot be used.
 *
 * @param endpoint the kind of the policy's parameters
 * @param namespace the namespace of the request
 */
export async function collectParams(
  reader: ParamReader,
  {
    endpoint,
    ref,
    namespace,
  }: {
    readonly endpoint: Endpoint;
    readonly ref: ParamRef;
    readonly namespace: string;
  },
  signal: AbortSignal,
): Promise<readonly ApiObject[]> {
  const { namespaced } = endpoint.row;
  const given = ref.namespace ?? '';
  if (given !== '' && !namespaced) {
    throw new Error('paramRef.namespace must not be provided for a cluster-scoped `paramKind`');
  }
  const place = given === '' ? namespace : given;
  if (namespaced && place === '') {
    throw new Error('cannot use namespaced paramRef in policy binding that matches cluster-scoped resources');
  }
  await waitUntilFilled(reader, endpoint, signal);
  const params = await find(reader, { endpoint, ref, namespace: namespaced ? place : '' }, signal);
  if (params.length === 0 && ref.parameterNotFoundAction === 'Deny') {
    throw new Error('no params found for policy binding with `Deny` parameterNotFoundAction');
  }
  return params;
}

async function waitUntilFilled(
  { read }: ParamReader,
  { stored, row }: Endpoint,
  signal: AbortSignal,
): Promise<void> {
  const cache = read.cache.resource(stored.keyPrefix);
  if (cache.isReady) return;
  try {
    const waitMsMax = read.cache.fillsOnDemand ? FILL_MS_MAX : WAIT_MS_MAX;
    await withTimeLimit(signal, waitMsMax, async (inTime) => cache.whenReady(inTime));
  } catch (error) {
    if (signal.aborted) throw error;
    const kind = `&ParamKind{Kind:${row.kind},APIVersion:${apiVersionOf(row)},}`;
    throw new Error(`paramKind kind \`${kind}\` not yet synced to use for admission`, { cause: error });
  }
}

async function find(
  { read }: ParamReader,
  {
    endpoint,
    ref,
    namespace,
  }: { readonly endpoint: Endpoint; readonly ref: ParamRef; readonly namespace: string },
  signal: AbortSignal,
): Promise<readonly ApiObject[]> {
  const { stored } = endpoint;
  const { name = '', selector } = ref;
  const shown = async (object: ApiObject): Promise<ApiObject> =>
    converting(() => stored.custom?.read(object, endpoint.apiVersion) ?? fromHub(endpoint, object), signal);
  if (name !== '') {
    const current = lastSeen(read, { stored }, relativeKey(stored, namespace, name));
    return current === undefined ? [] : [await shown(current.object)];
  }
  const selected = toLabelSelector(selector);
  const snapshot = read.cache.resource(stored.keyPrefix).snapshot();
  const entries = namespace === '' ? snapshot.entries() : snapshot.entriesOf(namespace);
  const found: ApiObject[] = [];
  // A namespace can have many objects, and each one that is selected has to be parsed.
  const slices = new Slices();
  for (const entry of entries) {
    if (slices.due()) await slices.pause();
    signal.throwIfAborted();
    if (!matchesLabels(selected, entry.labels)) continue;
    if (found.length === PARAMS_MAX)
      throw new Error(`paramRef selects more than ${String(PARAMS_MAX)} params`);
    found.push(await shown(currentOfEntry(stored, entry).object));
  }
  return found;
}
