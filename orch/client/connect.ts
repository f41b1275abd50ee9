import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { ALL_LEVELS } from '../../shared/api-level';
import { resourcesAt } from '../../shared/api/resources';
import type { ServedKinds } from '../../shared/api/types/message-types';
import type { Client } from '../../shared/client/client';
import { createClient } from '../../shared/client/client';
import { ConnectionError } from '../../shared/client/connection-error';
import { loadKubeconfig } from '../../shared/client/kubeconfig';
import type { ClientOptions } from '../../shared/client/options';
import type { Transport } from '../../shared/client/transport';
import { linkedAbort } from '../../shared/concurrency/linked-abort';
import { TIMER_MAX_MS } from '../../shared/concurrency/timer-max';
import { SERVICE_ACCOUNT_MOUNT_PATH } from '../../shared/names';
import type { ApiObject } from '../../shared/object/object';
import type { ResourceClient, ResourceDefinition } from './resource-client';
import { createResourceClient } from './resource-client';

/** Something that sends requests itself, such as a control plane of `orch/testing` or what its `as` returns. */
export interface FetchAccess {
  /** As the global `fetch`, for a path of the API. */
  fetch(path: string, init?: RequestInit): Promise<Response>;
}

/** A kubeconfig, the address and credentials of a server, or an access that sends requests itself. */
export type ConnectOptions =
  | { readonly kubeconfig?: string; readonly context?: string; readonly userAgent?: string }
  | ClientOptions
  | FetchAccess;

type Versions<Group> = {
  readonly [Version in keyof Group]: {
    readonly [Resource in keyof Group[Version]]: Group[Version][Resource] extends ApiObject
      ? /** In one namespace; in all, and of cluster-scoped objects, without one. */
        (namespace?: string) => ResourceClient<Group[Version][Resource]>
      : never;
  };
};

/** The resources of the tables: `client.apps.v1.deployments('ns')`. Groups have their short names, `core` is that without one. */
export type TypedClient = { readonly [Group in keyof ServedKinds]: Versions<ServedKinds[Group]> };

export interface Connection {
  /** A resource that the tables do not have. */
  of<T extends ApiObject>(resource: ResourceDefinition<T>, namespace?: string): ResourceClient<T>;
  /** Requests of any path, and operations by resource. */
  readonly raw: Client;
  /** Closes idle connections. */
  close(): void;
}

/**
 * Connects to the server of a kubeconfig: the given one, those of $KUBECONFIG, or `~/.kube/config`; else, in a pod, with its service account.
 * No request is sent before the first call. Throws KubeconfigError for an unusable kubeconfig.
 */
export function connect(options: ConnectOptions = {}): TypedClient & Connection {
  const raw = createClient(clientOptions(options));
  const connection: Connection = {
    of: (resource, namespace) => createResourceClient(raw, resource, namespace),
    raw,
    close: () => raw.close(),
  };
  return Object.assign(typedClient(raw), connection);
}

function clientOptions(options: ConnectOptions): ClientOptions {
  if ('fetch' in options) return { server: NO_SERVER, transport: () => fetchTransport(options) };
  if ('server' in options) return options;
  const { kubeconfig, context, userAgent = 'orch-client' } = options;
  const listed = (process.env['KUBECONFIG'] ?? '').split(path.delimiter).filter((file) => file !== '');
  const home = path.join(homedir(), '.kube', 'config');
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port } = process.env;
  if (kubeconfig === undefined && listed.length === 0 && !existsSync(home) && host !== undefined) {
    return {
      server: `https://${host.includes(':') ? `[${host}]` : host}:${port ?? '443'}`,
      caFile: path.join(SERVICE_ACCOUNT_MOUNT_PATH, 'ca.crt'),
      tokenFile: path.join(SERVICE_ACCOUNT_MOUNT_PATH, 'token'),
      userAgent,
    };
  }
  const source =
    kubeconfig === undefined && listed.length > 0 ? { paths: listed } : { path: kubeconfig ?? home };
  return {
    ...loadKubeconfig({ ...source, ...(context === undefined ? {} : { context }) }).client,
    userAgent,
  };
}

/** An access knows where its requests go. */
const NO_SERVER = 'http://fetch.invalid';

function fetchTransport(access: FetchAccess): Transport {
  const stream: Transport['stream'] = async ({ method, path: target, headers, body }, deadline) => {
    const { timeoutMs, signal = new AbortController().signal } = deadline;
    const call = linkedAbort(signal);
    const explain = (error: unknown): unknown =>
      call.signal.aborted
        ? call.signal.reason
        : connectionError({ method, target, code: 'ECONNRESET' }, error);
    const late = new Error(`no answer within ${String(timeoutMs)} ms`);
    const timer = setTimeout(
      () => call.abort(connectionError({ method, target, code: 'ETIMEDOUT' }, late)),
      Math.min(timeoutMs, TIMER_MAX_MS),
    );
    // An access may ignore the signal.
    const aborted = new Promise<never>((_, reject) => {
      const onAbort = (): void => reject(call.signal.reason as Error);
      call.signal.addEventListener('abort', onAbort, { once: true });
      if (call.signal.aborted) onAbort();
    });
    aborted.catch(() => undefined);
    const end = (): void => {
      call.abort(new Error('the client has ended the response'));
      call.unlink();
    };
    try {
      const sent =
        body === undefined ? {} : { body: typeof body === 'string' ? body : Uint8Array.from(body) };
      const init = { method, headers, ...sent, signal: call.signal };
      const response = await Promise.race([access.fetch(target, init), aborted]);
      const chunks = chunksOf(response, { explain, end });
      return { code: response.status, headers: Object.fromEntries(response.headers), chunks, end };
    } catch (error) {
      call.unlink();
      throw explain(error);
    } finally {
      clearTimeout(timer);
    }
  };
  return {
    send: async (request, deadline) => {
      const { code, headers, chunks } = await stream(request, deadline);
      const pieces: Buffer[] = [];
      for await (const chunk of chunks) pieces.push(chunk);
      return { code, headers, body: Buffer.concat(pieces) };
    },
    stream,
    close: () => undefined,
  };
}

function connectionError(
  { method, target, code }: { readonly method: string; readonly target: string; readonly code: string },
  cause: unknown,
): ConnectionError {
  const message = cause instanceof Error ? cause.message : String(cause);
  const outcomeUnknown = method !== 'GET' && method !== 'HEAD';
  return new ConnectionError(`${method} ${target}: ${message}`, { code, outcomeUnknown, cause });
}

async function* chunksOf(
  { body }: Response,
  call: { readonly explain: (error: unknown) => unknown; readonly end: () => void },
): AsyncGenerator<Buffer> {
  try {
    if (body !== null) for await (const piece of body) yield Buffer.from(piece as Uint8Array);
  } catch (error) {
    throw call.explain(error);
  } finally {
    call.end();
  }
}

type UntypedGroup = Record<string, Record<string, (namespace?: string) => ResourceClient<ApiObject>>>;

/** One object for each group and version of the tables. Resources that cannot be listed, such as reviews, are requested by `raw`. */
function typedClient(raw: Client): TypedClient {
  const groups: Record<string, UntypedGroup> = {};
  for (const { schema, group, version, resource, kind, namespaced } of resourcesAt(ALL_LEVELS)) {
    const [name = ''] = schema.split('/');
    const versions = (groups[name] ??= {});
    const resources = (versions[version] ??= {});
    const definition = { group, version, resource, kind, namespaced };
    resources[resource] = (namespace) => createResourceClient(raw, definition, namespace);
  }
  return groups as unknown as TypedClient;
}
