import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import type { HttpVersion } from './http-version';
import { httpVersion } from './http-version';
import { openTransport } from './open-transport';
import type { Transport } from './transport';

/** The user and the target. */
export interface Tenant {
  readonly server: string;
  readonly caFile: string;
  /** The token of a user who may impersonate others. */
  readonly token: string;
  readonly user: string;
  /** Groups besides `system:authenticated`. */
  readonly group?: string;
  readonly namespace: string;
  /** By default ORCH_E2E_HTTP, or 1.1. */
  readonly http?: HttpVersion;
}

/** The number of responses by status code (0 for a broken connection), and the durations of the quiet tenant in order. */
export interface Tally {
  readonly codes: Map<number, number>;
  readonly ms: number[];
}

/** The number of concurrent requests of each kind. */
export interface StormSize {
  readonly lists: number;
  readonly creates: number;
  readonly watches: number;
}

const WATCH_MS = 50;
const GROUP = 'system:authenticated';

/** Lists all ConfigMaps, creates some, and opens and closes watches, each as soon as the last one ends, until the signal aborts. */
export async function storm(tenant: Tenant, size: StormSize, signal: AbortSignal): Promise<Tally> {
  const asker = new Asker(tenant);
  const all = '/api/v1/configmaps';
  const own = `/api/v1/namespaces/${tenant.namespace}/configmaps`;
  const works: (() => Promise<unknown>)[] = [
    ...repeated(size.lists, async () => asker.ask({ path: all })),
    ...repeated(size.creates, async () =>
      asker.ask({ method: 'POST', path: own, body: { metadata: { generateName: 's-' }, data: { a: 'b' } } }),
    ),
    ...repeated(size.watches, async () => asker.ask({ path: `${all}?watch=1`, closesAfterMs: WATCH_MS })),
  ];
  await Promise.all(
    works.map(async (work) => {
      while (!signal.aborted) await work();
    }),
  );
  asker.close();
  return asker.tally;
}

/** Reads, writes and lists a few small objects in sequence, repeatedly, with a pause after each round. */
export async function quietRounds(tenant: Tenant, rounds: number, pauseMs = 0): Promise<Tally> {
  const asker = new Asker(tenant);
  const collection = `/api/v1/namespaces/${tenant.namespace}/configmaps`;
  for (let round = 0; round < rounds; round += 1) {
    const name = `quiet-${String(process.pid)}-${String(round)}`;
    const object = { metadata: { name }, data: { round: String(round) } };
    await asker.ask({ method: 'POST', path: collection, body: object });
    await asker.ask({ path: `${collection}/${name}` });
    await asker.ask({ path: collection });
    await asker.ask({ method: 'PUT', path: `${collection}/${name}`, body: object });
    await asker.ask({ method: 'DELETE', path: `${collection}/${name}` });
    await delay(pauseMs);
  }
  asker.close();
  return asker.tally;
}

const LEASES = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases';

/** Renews the lease of a node as its agent does, but far more often, until the signal aborts. */
export async function heartbeats(
  as: Omit<Tenant, 'user' | 'group' | 'namespace'>,
  { node, everyMs }: { readonly node: string; readonly everyMs: number },
  signal: AbortSignal,
): Promise<Tally> {
  const user = `system:node:${node}`;
  const asker = new Asker({ ...as, user, group: 'system:nodes', namespace: 'kube-node-lease' });
  const spec = { holderIdentity: node, leaseDurationSeconds: 40 };
  await asker.ask({ method: 'POST', path: LEASES, body: { metadata: { name: node }, spec } });
  while (!signal.aborted) {
    const renewTime = new Date().toISOString().replace('Z', '000Z');
    await asker.ask({ method: 'PATCH', path: `${LEASES}/${node}`, body: { spec: { renewTime } } });
    await delay(everyMs);
  }
  asker.close();
  return asker.tally;
}

interface Question {
  readonly method?: string;
  readonly path: string;
  readonly body?: object;
  /** Aborts the request this time after the response has begun. */
  readonly closesAfterMs?: number;
}

/** Discards response bodies, to keep the measuring process idle. */
class Asker {
  readonly tally: Tally = { codes: new Map(), ms: [] };
  readonly #tenant: Tenant;
  readonly #transport: Transport;

  constructor(tenant: Tenant) {
    this.#tenant = tenant;
    const { http = httpVersion('1.1'), server, caFile } = tenant;
    this.#transport = openTransport(http, server, readFileSync(caFile));
  }

  async ask(question: Question): Promise<void> {
    const startedAt = performance.now();
    const code = await this.#send(question).catch(() => 0);
    this.tally.ms.push(performance.now() - startedAt);
    this.tally.codes.set(code, (this.tally.codes.get(code) ?? 0) + 1);
  }

  close(): void {
    this.#transport.close();
  }

  async #send({ method = 'GET', path, body, closesAfterMs }: Question): Promise<number> {
    const { token, user, group } = this.#tenant;
    const bytes = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
    const { status, content, release } = await this.#transport.send({
      method,
      path,
      headers: {
        authorization: `Bearer ${token}`,
        'impersonate-user': user,
        'impersonate-group': group === undefined ? GROUP : [GROUP, group],
        ...(bytes === undefined
          ? {}
          : { 'content-type': contentType(method), 'content-length': bytes.length }),
      },
      body: bytes,
    });
    content.resume();
    if (closesAfterMs === undefined || status !== 200) await once(content, 'end');
    else {
      await delay(closesAfterMs);
      content.on('error', () => undefined);
      release();
    }
    return status;
  }
}

function contentType(method: string): string {
  return method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
}

function repeated<T>(times: number, work: T): readonly T[] {
  return Array.from({ length: times }, () => work);
}
